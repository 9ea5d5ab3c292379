"""What did a reviewer say in plain words: did something fail, was it refused, is something left to do?"""

from bot.domain.detection.confidence import SECOND_CUE
from bot.domain.detection.detector import Detection, detect
from bot.domain.detection.rules import DetectionRules, FeedbackType, OwnCue

__all__ = ["SECOND_CUE", "Detection", "DetectionRules", "FeedbackType", "OwnCue", "detect"]
