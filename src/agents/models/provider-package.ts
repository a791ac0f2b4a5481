// Models of the packages `@ai-sdk/NAME`, which know what their providers need. They are optional, and loaded when a model of theirs is named.
import { ErrandError } from '../../core/errors.ts'
import { isMissingPackage } from '../../core/optional-package.ts'
import { fetchStream } from './fetch-stream.ts'
import { addressVariableOf, type Environment, keyVariableOf, withoutKey } from './known-providers.ts'
import { type LanguageModelLike, requireLanguageModel } from './language-model.ts'

/** Imports a package by its name. */
export type LoadPackage = (packageName: string) => Promise<Readonly<Record<string, unknown>>>

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

export function packageOf(provider: string): string {
  return `@ai-sdk/${Object.hasOwn(packageNames, provider) ? packageNames[provider] : provider}`
}

/**
 * The model of a provider's package; undefined if the package is not installed.
 * @throws ErrandError NO_MODEL { variable } without a key; INVALID_INPUT if the package makes no language models.
 */
export async function packagedModel(
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

const importPackage: LoadPackage = (packageName) => import(packageName) as Promise<Record<string, unknown>>
