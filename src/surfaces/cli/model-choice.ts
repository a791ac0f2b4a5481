// Which model `--model` names: a script in a file, or a model of a server that speaks the chat completions protocol. Addresses
// and keys come from the environment, and no key ever stands in a message.
import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { FilesRoot } from '../../abilities/fs/files-root.ts'
import { ErrandError, type ErrorCode, nearestName } from '../../core/errors.ts'
import { loadOptional } from '../../core/optional-package.ts'
import { addressVariableOf, keyVariableOf, knownServers } from '../../models/known-providers.ts'
import { type LanguageModelLike, requireLanguageModel } from '../../models/language-model.ts'
import { parseScript } from '../../models/script.ts'
import { createScriptedModel } from '../../models/scripted-model.ts'

const packageName = '@ai-sdk/openai-compatible'

type Environment = Readonly<Record<string, string | undefined>>

/** What is used of the provider's package. */
type ProviderPackage = Pick<typeof import('@ai-sdk/openai-compatible'), 'createOpenAICompatible'>

/** Where the file of a script may lie. */
export interface ScriptPlace {
  /** Relative names begin here. */
  folder: string
  /** Whoever starts the process has named it on the command line or in the environment. Default false: in the folder or below it. */
  anywhere?: boolean
}

export interface ModelChoiceOptions {
  /** Told what the user should know about the choice. */
  note?: (text: string) => void
  /** Loads the provider's package. Default: an import of the one that is installed. */
  loadProvider?: () => Promise<ProviderPackage>
}

/**
 * The model that a text names.
 *
 * - `script:FILE`: plays a script, see `parseScript`. The file lies in the folder or below it, unless it may lie anywhere, and is not hidden.
 * - `provider:name`: the model `name` of a server. Its address is `<PROVIDER>_BASE_URL`, else a known one (openai, groq,
 *   mistral, together, deepseek, openrouter, xai, ollama, lmstudio); its key `<PROVIDER>_API_KEY`, which a server on this
 *   machine need not have.
 *
 * @throws ErrandError INVALID_INPUT for a text of another form, an address or a script that is none, or that lies elsewhere; NOT_FOUND
 *   when there is no such script; NO_MODEL { variable } when the address or the key is missing; NOT_OFFERED when the provider's package is.
 */
export async function chooseModel(
  text: string,
  env: Environment,
  place: ScriptPlace,
  options: ModelChoiceOptions = {},
): Promise<LanguageModelLike> {
  const colon = text.indexOf(':')
  const [provider, name] = [text.slice(0, colon), text.slice(colon + 1)]
  if (colon < 1 || name.trim() === '') throw noChoice(text)
  if (provider === 'script') return scriptIn(name, place, options)
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(provider)) throw noChoice(text)
  const server = serverOf(provider, env)
  const { createOpenAICompatible } = await loadOptional(
    packageName,
    'Asking a model by `provider:name`',
    options.loadProvider ?? importProvider,
  )
  const model = createOpenAICompatible({ name: provider, ...server, includeUsage: true })(name)
  return requireLanguageModel(model, `The model "${text}"`)
}

function noChoice(text: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `"${text}" names no model. Write \`provider:name\`, for example \`openai:gpt-5-mini\` or \`ollama:llama3.2\`, or \`script:FILE\`.`,
    { model: text },
  )
}

async function scriptIn(file: string, place: ScriptPlace, { note }: ModelChoiceOptions): Promise<LanguageModelLike> {
  const model = createScriptedModel(parseScript(await scriptText(file, place), file), { modelId: file })
  note?.(`The model is the script ${file}: what it says was written beforehand, and no language model is asked.`)
  return model
}

/** Read as agents read files: what lies outside of the folder is not even looked up, and nothing is waited for. */
async function scriptText(file: string, { folder, anywhere = false }: ScriptPlace): Promise<string> {
  const path = resolve(folder, file)
  try {
    return anywhere && existsSync(dirname(path))
      ? await new FilesRoot(dirname(path)).text(basename(path))
      : await new FilesRoot(folder).text(file)
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    const { code } = error
    throw new ErrandError(
      code === 'NOT_FOUND' ? code : 'INVALID_INPUT',
      `Cannot read the script ${file}: ${whyUnreadable[code] ?? 'it is no text file'}. A script is a text file of at most 4 MiB; one that a plan or a task names lies in the folder of the plan (for a task: in the current one), or below it.`,
      { file },
      error,
    )
  }
}

const whyUnreadable: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: 'there is no such file',
  FORBIDDEN: 'it lies in another folder, or is hidden',
  LIMIT_EXCEEDED: 'it is too large',
}

function serverOf(provider: string, env: Environment): { baseURL: string; apiKey?: string } {
  const baseURL = baseUrlOf(provider, addressVariableOf(provider), env)
  const variable = keyVariableOf(provider)
  const apiKey = env[variable]?.trim()
  if (apiKey) return { baseURL, apiKey }
  if (isLoopback(new URL(baseURL))) return { baseURL }
  throw new ErrandError(
    'NO_MODEL',
    `The provider "${provider}" needs a key: set ${variable}. (A server that wants none takes any text.)`,
    { provider, variable },
  )
}

function baseUrlOf(provider: string, variable: string, env: Environment): string {
  const written = env[variable]?.trim()
  if (written) return checkedUrl(written, variable)
  const known = Object.hasOwn(knownServers, provider) ? knownServers[provider] : undefined
  if (known !== undefined) return known
  const names = Object.keys(knownServers)
  const nearest = nearestName(provider, names)
  throw new ErrandError(
    'NO_MODEL',
    `Where the provider "${provider}" is, is not known: set ${variable} to its address, such as http://127.0.0.1:8080/v1.${
      nearest ? ` Or did you mean "${nearest}"?` : ''
    } Known are: ${names.join(', ')}.`,
    { provider, variable, nearest, known: names },
  )
}

/** The address itself is not shown: people put keys into addresses. */
function checkedUrl(written: string, variable: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return written
  throw new ErrandError(
    'INVALID_INPUT',
    `${variable} is no address that can be used: expected one like https://host/v1, without a user or a password.`,
    { variable },
  )
}

function isLoopback({ hostname }: URL): boolean {
  return /^((.*\.)?localhost|\[::1\]|127(\.\d+){3})$/.test(hostname)
}

const importProvider = (): Promise<ProviderPackage> => import('@ai-sdk/openai-compatible')
