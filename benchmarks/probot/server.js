// The smallest Probot app that answers a rejecting review: it keeps nothing and posts one fixed sentence.
import { createServer } from "node:http";
import { createNodeMiddleware, Probot, ProbotOctokit } from "probot";

const probot = new Probot({
  appId: process.env.GITHUB_APP_ID,
  privateKey: process.env.GITHUB_PRIVATE_KEY,
  secret: process.env.GITHUB_WEBHOOK_SECRET,
  baseUrl: process.env.GITHUB_API_URL,
  logLevel: "error",
  // Throttling would slow down a burst of comments to one in three seconds.
  Octokit: ProbotOctokit.defaults((options) => ({
    ...options,
    throttle: { ...options.throttle, enabled: false },
  })),
});

const app = (robot) => {
  robot.on("pull_request_review.submitted", async (context) => {
    if (context.payload.review.state === "changes_requested") {
      const body = "This pull request was rejected: fix what the review lists.";
      await context.octokit.rest.issues.createComment(context.issue({ body }));
    }
  });
};

const middleware = await createNodeMiddleware(app, { probot, webhooksPath: "/webhook" });
const server = createServer(middleware);
server.listen(0, "127.0.0.1", () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}: deliveries go to /webhook.`);
});
process.on("SIGTERM", () => process.exit(0));
