# Threadcite in two stages: the first installs what the lock file pins, the second runs it as nobody.
FROM docker.io/library/python:3.11-slim-bookworm AS build
COPY requirements.lock /src/
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --require-hashes --no-deps -r /src/requirements.lock

FROM docker.io/library/python:3.11-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 THREADCITE_CONFIG=/config/config.yml
COPY --from=build /venv /venv
WORKDIR /app
COPY forum forum
COPY clients clients
COPY indexer indexer
COPY bot bot
COPY sql sql
COPY config.yml config.yml
COPY config.yml /config/config.yml
USER 65532:65532
EXPOSE 4201
# Of whichever of the two processes the container runs; k3s has probes of its own instead.
HEALTHCHECK --interval=60s --timeout=15s --start-period=60s CMD ["python", "-m", "bot", "health"]
CMD ["python", "-m", "bot", "serve", "--host", "0.0.0.0", "--port", "4201"]
