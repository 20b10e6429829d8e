// Where a bucket is and who asks, from the variables and files that all programs for S3 share.
import { OperatorError, reasonOf } from "../errors.js";
import { clip, printable, shown } from "../words.js";
import { UnreachableError } from "./errors.js";

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3Settings {
  /** The address of the bucket, without a slash at the end. */
  readonly bucketUrl: string;
  /** The address of the server, for messages. */
  readonly endpoint: string;
  readonly region: string;
  /** Those in force now: some are replaced before they expire. */
  readonly credentials: () => Promise<Credentials>;
}

const DEFAULT_REGION = "us-east-1";

/** Throws an OperatorError if the settings are malformed. Credentials are looked up only when they are needed. */
export async function readS3Settings(bucket: string, env: NodeJS.ProcessEnv): Promise<S3Settings> {
  const profile = await profileOf(env);
  const region = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || profile["region"] || DEFAULT_REGION;
  const named = env["AWS_ENDPOINT_URL_S3"] || env["AWS_ENDPOINT_URL"] || profile["endpoint_url"];
  const endpoint = endpointUrl(named || awsEndpoint(region));
  const isPath = isPathStyle(bucket, named !== undefined, env, profile);
  if (!isPath) endpoint.hostname = `${bucket}.${endpoint.hostname}`;
  const base = endpoint.href.replace(/\/$/, "");
  return {
    bucketUrl: isPath ? `${base}/${bucket}` : base,
    endpoint: endpoint.origin,
    region,
    credentials: credentialsOf(env),
  };
}

const awsEndpoint = (region: string): string =>
  `https://s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;

/** The name of the settings in messages, since the address may hold a password. */
const ENDPOINT = "the endpoint of S3 (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or endpoint_url)";

function endpointUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text.includes("@")) {
    throw new OperatorError(
      `${ENDPOINT} has a user name or a password: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  }
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url && isHttp && url.search === "" && url.hash === "") return url;
  throw new OperatorError(`${ENDPOINT} is ${shown(clip(text))}: expected an address like https://s3.example.com:9000`);
}

/** Whether the bucket is part of the path and not of the host name, which only some servers and names allow. */
function isPathStyle(bucket: string, isNamed: boolean, env: NodeJS.ProcessEnv, profile: Profile): boolean {
  const virtual = env["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] || undefined;
  if (virtual !== undefined && !/^(true|false)$/i.test(virtual)) {
    throw new OperatorError(`AWS_VIRTUAL_HOSTED_STYLE_REQUEST is ${shown(clip(virtual))}: expected true or false`);
  }
  const style = profile["addressing_style"];
  if (virtual !== undefined) return virtual.toLowerCase() === "false";
  if (style === "path" || style === "virtual") return style === "path";
  return isNamed || bucket.includes(".");
}

type Profile = Readonly<Record<string, string | undefined>>;

/** Settings of the profile in the shared files, with those of its section for S3. */
async function profileOf(env: NodeJS.ProcessEnv): Promise<Profile> {
  const { loadSharedConfigFiles } = await import("@smithy/core/config");
  const { configFile, credentialsFile } = await loadSharedConfigFiles(filesOf(env));
  const name = env["AWS_PROFILE"] || "default";
  if (env["AWS_PROFILE"] && !configFile[name] && !credentialsFile[name]) {
    throw new OperatorError(
      `AWS_PROFILE is ${shown(clip(name))}, but neither ~/.aws/config nor ~/.aws/credentials has it`,
    );
  }
  const profile = configFile[name] ?? {};
  const services = configFile[`services.${profile["services"] ?? ""}`] ?? {};
  return {
    region: profile["region"],
    endpoint_url: services["s3.endpoint_url"] ?? profile["endpoint_url"],
    addressing_style: profile["s3.addressing_style"],
  };
}

const filesOf = (env: NodeJS.ProcessEnv): { readonly filepath?: string; readonly configFilepath?: string } => ({
  ...(env["AWS_SHARED_CREDENTIALS_FILE"] ? { filepath: env["AWS_SHARED_CREDENTIALS_FILE"] } : {}),
  ...(env["AWS_CONFIG_FILE"] ? { configFilepath: env["AWS_CONFIG_FILE"] } : {}),
});

const NONE =
  "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile in ~/.aws, or run where a role gives them";

/** Keys from variables; otherwise from files, roles, containers or the machine, by the provider of the AWS SDK. */
function credentialsOf(env: NodeJS.ProcessEnv): () => Promise<Credentials> {
  const [accessKeyId, secretAccessKey] = [env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]];
  if (!env["AWS_PROFILE"] && (accessKeyId || secretAccessKey)) {
    if (!accessKeyId || !secretAccessKey) {
      const [given, missing] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].toSorted((a) => (env[a] ? -1 : 1));
      throw new OperatorError(`${given} is set without ${missing}: set both`);
    }
    const sessionToken = env["AWS_SESSION_TOKEN"];
    const credentials = { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
    return () => Promise.resolve(credentials);
  }
  let provider: Promise<() => Promise<Credentials>> | undefined;
  const makeProvider = async (): Promise<() => Promise<Credentials>> => {
    const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
    return defaultProvider({ ...filesOf(env), ...(env["AWS_PROFILE"] ? { profile: env["AWS_PROFILE"] } : {}) });
  };
  return async () => {
    try {
      provider ??= makeProvider();
      return await (
        await provider
      )();
    } catch (error) {
      throw describeFailure(error);
    }
  };
}

function describeFailure(error: unknown): OperatorError {
  const { $fault } = error as { readonly $fault?: unknown };
  const why = printable(clip(reasonOf(error), 200));
  if ($fault === "server") return new UnreachableError(`no credentials for S3 for now: ${why}`);
  return new OperatorError(`no credentials for S3 (${why.replace(/\.$/, "")}): ${NONE}`);
}
