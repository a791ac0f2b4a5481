// Finds a model by a name like `openai:gpt-5-mini`: that of a server with the chat completions protocol. Addresses and keys come from
// the environment, and no message contains a key.
import { ErrandError, nearestName } from '../../core/errors.ts'
import { isMissingPackage, notInstalled } from '../../core/optional-package.ts'
import { fetchStream } from './fetch-stream.ts'
import {
  addressOf,
  addressVariableOf,
  type Environment,
  keyVariableOf,
  knownServers,
  withoutKey,
} from './known-providers.ts'
import { type LanguageModelLike, requireLanguageModel } from './language-model.ts'

const packageName = '@ai-sdk/openai-compatible'

/** Known providers whose models need their package. */
const packageProviders = ['anthropic', 'google', 'azure', 'bedrock']

/** The used part of the provider's package. */
type ProviderPackage = Pick<typeof import('@ai-sdk/openai-compatible'), 'createOpenAICompatible'>

export interface NamedModelOptions {
  /** Loads the package of a provider, `@ai-sdk/NAME`. Default: imports the installed one. */
  loadPackage?: LoadPackage | undefined
  /** Other forms that the caller accepts, for the message about an invalid text. */
  otherForms?: string
}

/**
 * Returns the model `name` of `provider:name`. With `<PROVIDER>_BASE_URL` it is that of a server with the chat completions protocol. Else it is
 * that of the package `@ai-sdk/PROVIDER`, if that is installed (openai, anthropic, google, mistral, deepseek, xai, azure, bedrock and others), or of
 * a known server (openai, groq, mistral, together, deepseek, openrouter, xai, ollama, lmstudio). The key is `<PROVIDER>_API_KEY`, optional for a
 * server on this machine.
 *
 * @throws ErrandError INVALID_INPUT for a text of another form, or an invalid address; NO_MODEL { variable } when the address or the key
 *   is missing; NOT_OFFERED { package } when the provider's package is needed and not installed.
 */
export async function namedModel(
  text: string,
  env: Environment,
  { loadPackage, otherForms = '' }: NamedModelOptions = {},
): Promise<LanguageModelLike> {
  const [, provider, name] = /^([A-Za-z][A-Za-z0-9_-]*):(.*\S.*)$/s.exec(text) ?? []
  if (provider === undefined || name === undefined) {
    throw new ErrandError(
      'INVALID_INPUT',
      `"${text}" is not a model. Write \`provider:name\`, for example \`openai:gpt-5-mini\` or \`ollama:llama3.2\`${otherForms}.`,
      { model: text },
    )
  }
  // The package for any server knows no address of its own.
  const needsNoPackage = addressOf(provider, env) !== undefined || packageOf(provider) === packageName
  const packaged = needsNoPackage ? undefined : await packagedModel(provider, name, env, loadPackage)
  if (packaged !== undefined) return packaged
  const server = serverOf(provider, env)
  const { createOpenAICompatible } = await importProvider()
  const model = createOpenAICompatible({ name: provider, ...server, includeUsage: true, fetch: fetchStream })(name)
  return requireLanguageModel(model, `The model "${text}"`)
}

function serverOf(provider: string, env: Environment): { baseURL: string; apiKey?: string } {
  const baseURL = baseUrlOf(provider, addressVariableOf(provider), env)
  const variable = keyVariableOf(provider)
  const apiKey = env[variable]?.trim()
  if (apiKey) return { baseURL, apiKey }
  if (isLoopback(new URL(baseURL))) return { baseURL }
  throw withoutKey(provider, variable)
}

function baseUrlOf(provider: string, variable: string, env: Environment): string {
  const written = addressOf(provider, env)
  if (written !== undefined) return checkedUrl(written, variable)
  const known = Object.hasOwn(knownServers, provider) ? knownServers[provider] : undefined
  if (known !== undefined) return known
  if (packageProviders.includes(provider)) {
    const needed = packageOf(provider)
    throw new ErrandError(
      'NOT_OFFERED',
      `Models of "${provider}" need the package ${needed}, which is not installed. Install it with: npm install ${needed}`,
      { package: needed },
    )
  }
  const address = `the address of a server with the chat completions protocol, such as http://127.0.0.1:8080/v1`
  if (packageOf(provider) === packageName) {
    throw new ErrandError(
      'NO_MODEL',
      `"${provider}" is a protocol and has no server of its own. Set ${variable} to ${address}, or give the server a name of yours: \`local:MODEL\` with LOCAL_BASE_URL.`,
      { provider, variable },
    )
  }
  const names = [...Object.keys(knownServers), ...packageProviders]
  const nearest = nearestName(provider, names)
  throw new ErrandError(
    'NO_MODEL',
    `The provider "${provider}" is not known: install its package (npm install ${packageOf(provider)}), or set ${variable} to ${address}.${
      nearest ? ` Or did you mean "${nearest}"?` : ''
    } Known providers: ${names.join(', ')}.`,
    { provider, variable, nearest, known: names },
  )
}

/** The message does not contain the address: people put keys into addresses. */
function checkedUrl(written: string, variable: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return written
  throw new ErrandError(
    'INVALID_INPUT',
    `${variable} is not a usable address: expected one like https://host/v1, without a user or a password.`,
    { variable },
  )
}

function isLoopback({ hostname }: URL): boolean {
  return /^((.*\.)?localhost|\[::1\]|127(\.\d+){3})$/.test(hostname)
}

async function importProvider(): Promise<ProviderPackage> {
  try {
    return await import('@ai-sdk/openai-compatible')
  } catch (error) {
    throw notInstalled(error, packageName, 'Asking a model by `provider:name`')
  }
}

// Models of the packages `@ai-sdk/NAME`, which know what their providers need. They are optional, and loaded when a model of theirs is named.

/** Imports a package by its name. */
type LoadPackage = (packageName: string) => Promise<Readonly<Record<string, unknown>>>

/** Providers whose package has another name. */
const packageNames: Readonly<Record<string, string>> = { bedrock: 'amazon-bedrock' }
/** Providers with a key, and the variables that may hold it. The packages of others find their credentials themselves. */
const keyVariables: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['ANTHROPIC_API_KEY'],
  deepseek: ['DEEPSEEK_API_KEY'],
  google: ['GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  mistral: ['MISTRAL_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  xai: ['XAI_API_KEY'],
}

function packageOf(provider: string): string {
  return `@ai-sdk/${Object.hasOwn(packageNames, provider) ? packageNames[provider] : provider}`
}

/**
 * The model of a provider's package; undefined if the package is not installed.
 * @throws ErrandError NO_MODEL { variable } without a key; INVALID_INPUT if the package makes no language models.
 */
async function packagedModel(
  provider: string,
  name: string,
  env: Environment,
  load: LoadPackage = importPackage,
): Promise<LanguageModelLike | undefined> {
  const packageName = packageOf(provider)
  const found = await load(packageName).catch((error: unknown) => {
    if (isMissingPackage(error, packageName)) return undefined
    throw error
  })
  if (found === undefined) return undefined
  const [, create] =
    Object.entries(found).find(([key, value]) => /^create[A-Z]/.test(key) && typeof value === 'function') ?? []
  const baseURL = env[addressVariableOf(provider)]?.trim()
  const settings = { fetch: fetchStream, ...keyOf(provider, env), ...(baseURL ? { baseURL } : {}) }
  const modelOf = (create as ((settings: object) => unknown) | undefined)?.(settings)
  if (typeof modelOf !== 'function') {
    throw new ErrandError(
      'INVALID_INPUT',
      `The package ${packageName} offers no models: it exports no function \`create…\` that makes a provider.`,
      { package: packageName },
    )
  }
  return requireLanguageModel(modelOf(name), `The model "${provider}:${name}"`)
}

function keyOf(provider: string, env: Environment): { apiKey?: string } {
  const isKeyed = Object.hasOwn(keyVariables, provider)
  const variables = isKeyed ? (keyVariables[provider] as readonly string[]) : [keyVariableOf(provider)]
  const apiKey = variables.map((variable) => env[variable]?.trim()).find(Boolean)
  if (apiKey === undefined && isKeyed) throw withoutKey(provider, variables[0] as string)
  return apiKey === undefined ? {} : { apiKey }
}

/** Without the comment, webpack puts something in its place that finds no package. */
const importPackage: LoadPackage = (packageName) =>
  import(/* webpackIgnore: true */ packageName) as Promise<Record<string, unknown>>
