// Resolves `--model`: a script in a file, or a model of a server with the chat completions protocol. Addresses and keys come
// from the environment, and no message contains a key.
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

/** The used part of the provider's package. */
type ProviderPackage = Pick<typeof import('@ai-sdk/openai-compatible'), 'createOpenAICompatible'>

/** Where the file of a script may be. */
export interface ScriptLocation {
  /** Base of relative names. */
  folder: string
  /** True for a script that was named on the command line or in the environment. Default false: in the folder or below it. */
  anywhere?: boolean
}

export interface ModelChoiceOptions {
  /** Receives notes for the user about the choice. */
  note?: (text: string) => void
  /** Loads the provider's package. Default: imports the installed one. */
  loadProvider?: () => Promise<ProviderPackage>
}

/**
 * Returns the model that a text names.
 *
 * - `script:FILE`: plays a script, see `parseScript`. The file is in the folder or below it, unless `anywhere`, and is not hidden.
 * - `provider:name`: the model `name` of a server. Its address is `<PROVIDER>_BASE_URL`, else a known one (openai, groq,
 *   mistral, together, deepseek, openrouter, xai, ollama, lmstudio); its key `<PROVIDER>_API_KEY`, optional for a server on
 *   this machine.
 *
 * @throws ErrandError INVALID_INPUT for a text of another form, an invalid address, or a script that is invalid or outside of the
 *   folder; NOT_FOUND when the script does not exist; NO_MODEL { variable } when the address or the key is missing; NOT_OFFERED when
 *   the provider's package is not installed.
 */
export async function chooseModel(
  text: string,
  env: Environment,
  location: ScriptLocation,
  options: ModelChoiceOptions = {},
): Promise<LanguageModelLike> {
  const colon = text.indexOf(':')
  const [provider, name] = [text.slice(0, colon), text.slice(colon + 1)]
  if (colon < 1 || name.trim() === '') throw noChoice(text)
  if (provider === 'script') return scriptIn(name, location, options)
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
    `"${text}" is not a model. Write \`provider:name\`, for example \`openai:gpt-5-mini\` or \`ollama:llama3.2\`, or \`script:FILE\`.`,
    { model: text },
  )
}

async function scriptIn(
  file: string,
  location: ScriptLocation,
  { note }: ModelChoiceOptions,
): Promise<LanguageModelLike> {
  const model = createScriptedModel(parseScript(await scriptText(file, location), file), { modelId: file })
  note?.(`The model is the script ${file}: its answers were written beforehand, and no language model is called.`)
  return model
}

/** Reads the file as agents read files: paths outside of the folder are refused, and only regular files are opened. */
async function scriptText(file: string, { folder, anywhere = false }: ScriptLocation): Promise<string> {
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
      `Cannot read the script ${file}: ${whyUnreadable[code] ?? 'it is not a text file'}. A script is a text file of at most 4 MiB. A script that a plan or a task names must be in the folder of the plan (for a task: the current folder), or below it.`,
      { file },
      error,
    )
  }
}

const whyUnreadable: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: 'the file does not exist',
  FORBIDDEN: 'it is in another folder, or hidden',
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
    `The provider "${provider}" needs a key: set ${variable}. (For a server that requires no key, any text will do.)`,
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
    `The address of the provider "${provider}" is not known: set ${variable} to it, such as http://127.0.0.1:8080/v1.${
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

const importProvider = (): Promise<ProviderPackage> => import('@ai-sdk/openai-compatible')
