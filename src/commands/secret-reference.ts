// A reference to a secret in the `env` of a command. The reference is stored; the value is read from the engine's
// environment when the command starts and is never stored.
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

/** The variables of a command as they are stored: text, or a reference. */
export type StoredEnvironment = Readonly<Record<string, string | SecretReference>>

/** The variables of a command, and the secrets among their values. */
export interface ResolvedEnvironment {
  variables: Record<string, string>
  secrets: Secret[]
}

/**
 * Resolves the references.
 * @throws Failure NO_SECRET { variable, secret } for a secret that is unset or empty; final, because the environment
 * does not change while the process lives.
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
    `The command was not started: its variable ${variable} refers to the secret ${secret}, which is not set in the environment of the engine. Set ${secret} where that engine is started, or remove the reference from \`env\`.`,
    { code: 'NO_SECRET', retry: false, details: { variable, secret } },
  )
}
