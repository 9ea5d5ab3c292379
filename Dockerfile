# syntax=docker/dockerfile:1
# The server and every command, with all extras. Build: docker build -t whetstone .

FROM python:3.11-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/whetstone
COPY requirements-container.lock ./
RUN /opt/whetstone/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-container.lock
COPY pyproject.toml README.md LICENSE app.yml ./
COPY rules rules
COPY bot bot
RUN /opt/whetstone/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin whetstone \
    && install --directory --owner=whetstone --group=whetstone --mode=0700 /data
COPY --from=build /opt/whetstone /opt/whetstone
# Nothing outside /data and /tmp is written, so the root may be read-only.
ENV PATH=/opt/whetstone/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATABASE_URL=sqlite:////data/whetstone.db
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/readyz', timeout=4)"]
ENTRYPOINT ["whetstone"]
CMD ["serve"]
