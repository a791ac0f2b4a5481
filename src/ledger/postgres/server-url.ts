// The URL of a ledger on a PostgreSQL server. Everything in it is checked here: an option that the driver would not know or ignore is
// refused, and so is a connection to another host without TLS.
import { z } from 'zod'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'

/** Where a server is, and how to connect to it. */
export interface ServerTarget {
  /** The URL without its password: for messages and child processes. */
  readonly name: string
  /** The servers, in the order in which they are tried: the ledger is on the one that is no standby. */
  readonly hosts: readonly ServerHost[]
  /** Connection pools that give each transaction a session of the server: for steps and reads. Undefined: they go to the servers too. */
  readonly pools: readonly ServerHost[] | undefined
  /** Undefined: PGUSER, or the user of this process. */
  readonly user: string | undefined
  /** Undefined: PGPASSWORD, or the password file of the user. */
  readonly password: string | undefined
  readonly database: string
  /** The schema of the ledger, which is created if it is missing. Undefined: that of the role, usually `public`. */
  readonly schema: string | undefined
  /** Whether the server may be one that can lose acknowledged commits at a power cut. */
  readonly durability: 'strict' | 'relaxed'
}

export interface ServerHost {
  readonly host: string
  readonly port: number
  /** `verify`: encrypted, and the certificate of the server is checked. */
  readonly tls: 'off' | 'encrypted' | 'verify'
}

const parametersSchema = z.object({
  schema: z.string().min(1).max(63).optional(),
  direct: z.string().min(1).optional(),
  durability: z.enum(['strict', 'relaxed']).default('strict'),
  sslmode: z.enum(['disable', 'require', 'verify-full']).optional(),
})
const known = Object.keys(parametersSchema.shape)
type SslMode = z.output<typeof parametersSchema>['sslmode']

export function isServerUrl(name: string): boolean {
  return /^postgres(ql)?:\/\//i.test(name)
}

/** A URL in which several hosts stand where others have one. */
const partsOfUrl = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/i

/** @throws ErrandError INVALID_INPUT; no message names the password */
export function parseServerUrl(text: string): ServerTarget {
  const [, before = '', places = '', after = ''] = partsOfUrl.exec(text) ?? []
  if (places.includes('@'))
    throw refused('only the first of its hosts may follow a user, and "@" in a password is written %40')
  const urls = urlsOf(places, (place) => `${before}${place}${after}`, 'one of its hosts is empty')
  const [url] = urls as [URL | undefined]
  const database = url && decoded(url.pathname.slice(1))
  if (url === undefined || database === undefined || url.hash !== '' || !urls.every((each) => each !== undefined)) {
    throw refused('it is not a URL like postgres://user:password@host:5432/database')
  }
  if (database === '') throw refused('it names no database: postgres://host/database')
  const { schema, sslmode, direct, durability } = parametersOf(url)
  const named = urls.map((each) => hostOf(each, sslmode))
  const servers = direct === undefined ? undefined : directHosts(direct, sslmode)
  const elsewhere = [...named, ...(servers ?? [])].find(({ host }) => !isThisHost(host))
  if (sslmode === 'disable' && elsewhere !== undefined) {
    throw refused(`${elsewhere.host} is another host, and a connection to it must be encrypted. Remove sslmode=disable`)
  }
  return {
    name: shownUrl(url, places),
    hosts: servers ?? named,
    pools: servers === undefined ? undefined : named,
    user: url.username === '' ? undefined : decoded(url.username),
    password: url.password === '' ? undefined : decoded(url.password),
    database,
    schema,
    durability,
  }
}

/** The URL of each place in a list; undefined for one that cannot be read. */
function urlsOf(places: string, urlOf: (place: string) => string, ifEmpty: string): Array<URL | undefined> {
  if (/^,|,,|,$/.test(places)) throw refused(ifEmpty)
  return places.split(',').map((place) => (URL.canParse(urlOf(place)) ? new URL(urlOf(place)) : undefined))
}

/** The servers behind the pools. */
function directHosts(places: string, sslmode: SslMode): ServerHost[] {
  const urls = urlsOf(places, (place) => `postgres://${place}/`, 'one of the hosts of its option "direct" is empty')
  return urls.map((url) => {
    if (url === undefined || url.pathname !== '/' || `${url.username}${url.password}${url.search}${url.hash}` !== '') {
      throw refused('its option "direct" is not a list like db1:5432,db2:5432. User and database are those of the URL')
    }
    return hostOf(url, sslmode)
  })
}

function parametersOf(url: URL): z.output<typeof parametersSchema> {
  for (const name of url.searchParams.keys()) {
    if (!known.includes(name)) {
      throw refused(
        `its option "${name}" is not known.${didYouMean(nearestName(name, known))} Known are ${known.join(', ')}`,
      )
    }
  }
  const parsed = parametersSchema.safeParse(Object.fromEntries(url.searchParams))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw refused(`its option "${issue?.path.join()}" is not valid: ${issue?.message}`)
}

function hostOf({ hostname, port }: URL, sslmode: SslMode): ServerHost {
  const host = hostname === '' ? 'localhost' : hostname.replace(/^\[|\]$/g, '')
  return { host, port: port === '' ? 5432 : Number(port), tls: tlsOf(sslmode, isThisHost(host)) }
}

/** With all hosts, and without the password. */
function shownUrl(url: URL, places: string): string {
  const shown = new URL(url)
  shown.password = ''
  if (!places.includes(',')) return shown.href
  const user = shown.username === '' ? '' : `${shown.username}@`
  return `${shown.protocol}//${user}${places}${shown.pathname}${shown.search}`
}

function tlsOf(sslmode: SslMode, isHere: boolean): ServerHost['tls'] {
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
