// The known model providers: the addresses of their servers, and the environment variables that hold an address or a
// key. One list, so that every variable read as a key is also withheld from commands.
import { ErrandError } from '../../core/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Addresses of servers with the same address for everyone. Any other name requires `<NAME>_BASE_URL`. */
export const knownServers: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  groq: 'https://api.groq.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  together: 'https://api.together.xyz/v1',
  deepseek: 'https://api.deepseek.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  xai: 'https://api.x.ai/v1',
  ollama: 'http://127.0.0.1:11434/v1',
  lmstudio: 'http://127.0.0.1:1234/v1',
}

/** Providers that programs pass as model objects: their packages read these keys by themselves. */
const packageProviders = [
  'anthropic',
  'google',
  'google-generative-ai',
  'gemini',
  'azure',
  'azure-openai',
  'cohere',
  'perplexity',
  'fireworks',
  'cerebras',
  'deepinfra',
  'voyage',
  'ai-gateway',
]

const keySuffix = '_API_KEY'
const addressSuffix = '_BASE_URL'

/** The variable with the key of a provider. */
export function keyVariableOf(provider: string): string {
  return prefixOf(provider) + keySuffix
}

export function withoutKey(provider: string, variable: string): ErrandError {
  return new ErrandError(
    'NO_MODEL',
    `The provider "${provider}" needs a key: set ${variable}. (For a server that requires no key, any text will do.)`,
    { provider, variable },
  )
}

/** The variable with the address of a provider's server. */
export function addressVariableOf(provider: string): string {
  return prefixOf(provider) + addressSuffix
}

/**
 * The address of a provider's server with the chat completions protocol; undefined for none. `ANTHROPIC_BASE_URL` is a variable of Anthropic's own
 * clients, and such a server speaks Anthropic's protocol, like the package.
 */
export function addressOf(provider: string, env: Environment): string | undefined {
  return provider === 'anthropic' ? undefined : env[addressVariableOf(provider)]?.trim() || undefined
}

const prefixOf = (provider: string): string => provider.toUpperCase().replaceAll('-', '_')

const knownKeys = new Set([...Object.keys(knownServers), ...packageProviders].map(keyVariableOf))

/**
 * Whether the variable holds a provider's key. A provider is known by its name, or because the environment has its
 * address.
 */
export function isProviderKey(name: string, environment: Readonly<Record<string, string | undefined>>): boolean {
  if (knownKeys.has(name)) return true
  if (!name.endsWith(keySuffix)) return false
  return environment[name.slice(0, -keySuffix.length) + addressSuffix] !== undefined
}
