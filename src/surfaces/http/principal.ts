// Who sends a request, and as what caller their wishes reach the bus. Nothing of it comes out of the request itself but what your
// own check, or the token, vouches for.
import type { Caller } from '../../bus/caller.ts'
import { parse } from '../../parse.ts'
import { bearsToken } from '../web/door.ts'
import { type Authenticate, type CheckedHttpOptions, type Principal, principalSchema } from './http-options.ts'
import { unauthenticated } from './problem.ts'

/** @throws Refusal 401 for somebody unknown; whatever the check itself throws, and what it gives that is no principal. */
export async function principalOf(
  request: Request,
  { authenticate, token }: Pick<CheckedHttpOptions, 'authenticate' | 'token'>,
): Promise<Principal> {
  if (authenticate === undefined) {
    if (token !== false && !bearsToken(request, token as string)) throw unauthenticated()
    return { scopes: ['admin'] }
  }
  const principal = await askedOf(authenticate, request)
  if (principal === null) throw unauthenticated()
  return principal
}

/** What goes wrong here is not the client's mistake, and must not look like it. */
async function askedOf(authenticate: Authenticate, request: Request): Promise<Principal | null> {
  try {
    const given: unknown = await authenticate(request)
    return given === null ? null : parse(principalSchema, given, 'What `authenticate` gave')
  } catch (error) {
    throw new Error('`authenticate` failed, or gave something else than a principal or null', { cause: error })
  }
}

export function callerOf(
  { abilities, ...principal }: Principal,
  { maxTasksPerRequest }: Pick<CheckedHttpOptions, 'maxTasksPerRequest'>,
): Caller {
  const lists = abilities === undefined ? {} : { abilities: [abilities] }
  return { surface: 'http', ...principal, ...lists, maxTasksPerCall: maxTasksPerRequest }
}

/** Under what name somebody's requests are counted: nobody uses up what is another's. */
export function countedAs({ owner, taskId }: Principal, address: string | undefined): string {
  return JSON.stringify(
    owner !== undefined ? ['owner', owner] : taskId !== undefined ? ['task', taskId] : ['address', address ?? null],
  )
}
