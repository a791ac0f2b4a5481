// The URL of a ledger on a PostgreSQL server. Everything in it is checked here: an option that the driver would not know or ignore is
// refused, and so is a connection to another host without TLS.
import { z } from 'zod'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../../core/errors.ts'

/** Where a server is, and how to connect to it. */
export interface ServerTarget {
  /** The URL without its password: for messages and child processes. */
  readonly name: string
  readonly host: string
  readonly port: number
  /** Undefined: PGUSER, or the user of this process. */
  readonly user: string | undefined
  /** Undefined: PGPASSWORD, or the password file of the user. */
  readonly password: string | undefined
  readonly database: string
  /** The schema of the ledger, which is created if it is missing. Undefined: that of the role, usually `public`. */
  readonly schema: string | undefined
  /** `verify`: encrypted, and the certificate of the server is checked. */
  readonly tls: 'off' | 'encrypted' | 'verify'
}

const parametersSchema = z.object({
  schema: z.string().min(1).max(63).optional(),
  sslmode: z.enum(['disable', 'require', 'verify-full']).optional(),
})
const known = Object.keys(parametersSchema.shape)

export function isServerUrl(name: string): boolean {
  return /^postgres(ql)?:\/\//i.test(name)
}

/** @throws ErrandError INVALID_INPUT; no message names the password */
export function parseServerUrl(text: string): ServerTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const database = url && decoded(url.pathname.slice(1))
  if (url === undefined || database === undefined || url.hash !== '') {
    throw refused('it is not a URL like postgres://user:password@host:5432/database')
  }
  if (url.host.includes(',')) throw refused('it names several hosts, and errand connects to one')
  if (database === '') throw refused('it names no database: postgres://host/database')
  for (const name of url.searchParams.keys()) {
    if (!known.includes(name)) {
      throw refused(
        `its option "${name}" is not known.${didYouMean(nearestName(name, known))} Known are ${known.join(', ')}`,
      )
    }
  }
  const parsed = parametersSchema.safeParse(Object.fromEntries(url.searchParams))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw refused(`its option "${issue?.path.join()}" is not valid: ${issue?.message}`)
  }
  const { schema, sslmode } = parsed.data
  const host = url.hostname === '' ? 'localhost' : url.hostname.replace(/^\[|\]$/g, '')
  const isHere = isThisHost(host)
  if (sslmode === 'disable' && !isHere) {
    throw refused(`${host} is another host, and a connection to it must be encrypted. Remove sslmode=disable`)
  }
  const shown = new URL(url)
  shown.password = ''
  return {
    name: shown.href,
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user: url.username === '' ? undefined : decoded(url.username),
    password: url.password === '' ? undefined : decoded(url.password),
    database,
    schema,
    tls: tlsOf(sslmode, isHere),
  }
}

function tlsOf(sslmode: 'disable' | 'require' | 'verify-full' | undefined, isHere: boolean): ServerTarget['tls'] {
  if (sslmode === 'require') return 'encrypted'
  return sslmode === 'disable' || (sslmode === undefined && isHere) ? 'off' : 'verify'
}

function isThisHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function refused(why: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `The URL of the PostgreSQL server cannot be used: ${why}.`, {})
}
