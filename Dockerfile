# Container image for Tapehouse; see docs/running.md.
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build
RUN npm prune --omit=dev --no-audit --no-fund

FROM ${NODE_IMAGE}
ENV NODE_ENV=production TAPEHOUSE_HOST=0.0.0.0 TAPEHOUSE_PORT=8080 TAPEHOUSE_DATA=/data TAPEHOUSE_TEMP=/temp
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY deploy/health.mjs ./deploy/
RUN mkdir /data /temp && chown node:node /data /temp && chmod 700 /temp
USER node
VOLUME ["/data", "/temp"]
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "deploy/health.mjs"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
