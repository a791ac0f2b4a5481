// Who is at the other end of a surface over HTTP, as the program's own check of credentials knows them, and as the caller by which the
// bus judges. Nothing of it comes out of the request but what that check, or the token, vouches for.
import { z } from 'zod'
import { type Access, accessClasses, type Caller } from '../bus/caller.ts'
import { abilityListSchema } from '../entities/ability-pattern.ts'

/** Whoever is at the other end, as your own check of credentials knows them. */
export interface Principal {
  /** What they may do. `admin` holds the others; of the others none holds another. */
  scopes: readonly Access[]
  /**
   * Whose engine, and so whose ledger, they reach: 1 to 64 letters, digits, `_` and `-`. Needed where `engineFor` gives the engines, and
   * refused where there is one engine, which would be everybody's.
   */
  tenant?: string
  /** Their name: what they claim is claimed in it. It hides nothing: principals of one ledger see each other's tasks. */
  owner?: string
  /** They see and touch this task and what is below it, and nothing else. */
  taskId?: string
  /** A model sends the requests: what is for people or for programs is refused to it. Default: a person or a program does. */
  model?: true
  /** Ids of abilities, `module:*` or `*`: they may call no others. Default: all that the scopes allow. */
  abilities?: readonly string[]
}

export type Authenticate = (request: Request) => Principal | null | Promise<Principal | null>

const tenantSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected the name of a tenant: 1 to 64 letters, digits, `_` and `-`')

/** Strict: a principal whose `taskId` is misspelled would see everything, and so would one whose `tenant` is passed over. */
export const principalSchema = z.strictObject({
  scopes: z.array(z.enum(accessClasses)).max(100),
  owner: z.string().min(1).max(100).exactOptional(),
  taskId: z.string().min(1).max(100).exactOptional(),
  model: z.literal(true).exactOptional(),
  abilities: abilityListSchema.exactOptional(),
})

/** Without a tenant there is no engine for them: none is chosen in its place. */
export const tenantPrincipalSchema = principalSchema.extend({ tenant: tenantSchema })

export function callerOf({ abilities, tenant: _tenant, ...principal }: Principal, surface: string): Caller {
  return { surface, ...principal, ...(abilities === undefined ? {} : { abilities: [abilities] }) }
}

/** Under what name somebody is counted: nobody uses up what belongs to another, or to a namesake with another tenant. */
export function countedAs({ tenant, owner, taskId }: Principal, address: string | undefined): string {
  const who =
    owner !== undefined ? ['owner', owner] : taskId !== undefined ? ['task', taskId] : ['address', address ?? null]
  return JSON.stringify([tenant ?? null, ...who])
}
