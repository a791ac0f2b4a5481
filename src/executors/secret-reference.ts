// A reference to a secret in the `env` of a command: stored in place of the value, which is looked up in the engine's environment when the
// command starts. The value itself is never stored.
import { z } from 'zod'
import { Failure } from '../core/errors.ts'
import type { Secret } from './secret-mask.ts'

const variableName = z
  .string()
  .max(500)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable: letters, digits and underscores')

/** `{ secret: 'NAME' }`: the value of the variable NAME of the engine's environment. */
export const secretReferenceSchema = z.strictObject({ secret: variableName })

export type SecretReference = z.output<typeof secretReferenceSchema>

/** The variables of a command, as they are stored: text, or a reference. */
export type StoredEnvironment = Readonly<Record<string, string | SecretReference>>

/** The variables of a command, and which of their values are secrets. */
export interface ResolvedEnvironment {
  variables: Record<string, string>
  secrets: Secret[]
}

/**
 * Looks up what the references name.
 * @throws Failure NO_SECRET { variable, secret } for one that is not set or empty; final, because nothing changes it while the process lives.
 */
export function resolveReferences(stored: StoredEnvironment, environment: NodeJS.ProcessEnv): ResolvedEnvironment {
  const secrets: Secret[] = []
  const variables = Object.entries(stored).map(([variable, given]): [string, string] => {
    if (typeof given === 'string') return [variable, given]
    const value = environment[given.secret]
    if (!value) throw missing(variable, given.secret)
    secrets.push({ name: given.secret, value })
    return [variable, value]
  })
  return { variables: Object.fromEntries(variables), secrets }
}

function missing(variable: string, secret: string): Failure {
  return new Failure(
    `The command was not started: its variable ${variable} refers to the secret ${secret}, which is not set in the environment of the engine that runs it. Set ${secret} where that engine is started, or take the reference out of \`env\`.`,
    { code: 'NO_SECRET', retry: false, details: { variable, secret } },
  )
}
