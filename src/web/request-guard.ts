// The door of every surface over HTTP: who may come in, judged by the headers before anything of a request is read. A browser that
// was led astray knows no token, but it is turned away at its host and origin before it could try one. What a server may be told of it,
// and of where it listens, has the same words on every surface.
import { hash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { createRandomIds } from '../core/ids.ts'
import { functionOf } from '../core/parse.ts'

/** Who is let in by what their request says of where it goes, and from which page it comes. */
export interface RequestGuardOptions {
  /**
   * Values of the `Host` header that are served, port included (`example.org`, `127.0.0.1:8080`). Default: the loopback names, at
   * any port where the port is not known.
   */
  allowedHosts?: readonly string[] | undefined
  /** Origins of web pages that may call, like `https://example.org`. Default: none but that of the host itself. */
  allowedOrigins?: readonly string[] | undefined
}

export interface ListenAddressOptions {
  /** The address to listen at. Default 127.0.0.1. Any that is not loopback needs a token, or `authenticate`. */
  host?: string | undefined
  /** Default 0: a free one. */
  port?: number | undefined
}

export const milliseconds = z
  .number()
  .positive()
  .max(2 ** 31 - 1)

export const onErrorSchema = functionOf<(error: unknown) => void>('(error)').default(() => () => {})

export const tokenSchema = z.custom<string | false>(
  (value) => value === false || (typeof value === 'string' && /^[\x21-\x7e]{32,}$/.test(value)),
  'expected at least 32 printable characters without spaces, or `false` to let everybody call',
)

/** Hosts are compared as they are written, in lower case, port included; absent: those of loopback. */
export const requestGuardShape = {
  allowedHosts: z.array(z.string().trim().toLowerCase().min(1).max(300)).max(100).optional(),
  allowedOrigins: z
    .array(
      z
        .string()
        .refine((text) => URL.canParse(text) && new URL(text).origin === text, 'expected an origin: https://name'),
    )
    .max(100)
    .default([]),
}

export const listenAddressShape = {
  host: z.string().trim().min(1).max(255).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(0),
}

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']
/** Of http, in which all servers here speak. */
const defaultPort = 80
const loopbackAddresses = ['127.0.0.1', 'localhost', '::1']

export interface Refused {
  status: 403
  /** A sentence for people. */
  why: string
}

/** Why a request is not let in by its host or its origin; undefined for one that is. */
export function refuseRequest(
  request: Request,
  { allowedHosts, allowedOrigins = [] }: RequestGuardOptions,
): Refused | undefined {
  const host = hostOf(request)
  if (!(allowedHosts === undefined ? isLoopbackHost(host) : allowedHosts.includes(host))) {
    return {
      status: 403,
      why: 'This Host is not served here. Whoever runs the server can name it with `allowedHosts` (`--allow-host`).',
    }
  }
  const origin = request.headers.get('origin')
  if (origin !== null && !isOriginOf(origin, host) && !allowedOrigins.includes(origin)) {
    return {
      status: 403,
      why: 'This Origin is not served here. Whoever runs the server can name it with `allowedOrigins`.',
    }
  }
  return undefined
}

/** Compared by their hashes, which are of one length: how long it takes tells nothing of how much was right. */
export function bearsToken(request: Request, token: string): boolean {
  return isSameSecret(bearerIn(request.headers.get('authorization')) ?? '', token)
}

/** The token of an `Authorization` header; undefined where it holds none. */
export function bearerIn(authorization: string | null | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/** True when both are one, in a time that tells nothing of where they differ. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'))
}

/** A bearer token for a server that was given none: 52 letters and digits, more than 256 bits of chance. */
export function makeToken(): string {
  const ids = createRandomIds()
  return Array.from({ length: 4 }, () => ids.next('x').replace('x-', '')).join('')
}

/**
 * `would` says what everybody could do there.
 * @throws ErrandError FORBIDDEN { host } for an address that others can reach, without a token.
 */
export function requireGuard(host: string, token: string | false | undefined, would: string): void {
  if (token !== false || isLoopbackAddress(host)) return
  throw new ErrandError(
    'FORBIDDEN',
    `Serving at ${host} without a token would let everybody on the network ${would}. Give a token, or serve at 127.0.0.1.`,
    { host },
  )
}

/** JSON in the one alphabet that JSON has. */
export function isJsonType(contentType: string | null): boolean {
  return /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/i.test(contentType?.trim() ?? '')
}

/** The values of `Host` under which a server at this address is reached: its own name, and the loopback names. */
export function hostsAt(host: string, port: number): string[] {
  return [...new Set([...loopbackNames, hostName(host)].flatMap((name) => namesAt(name, port)))]
}

/** Clients leave out the port that they would take anyway. */
function namesAt(name: string, port: number): string[] {
  return port === defaultPort ? [name, `${name}:${port}`] : [`${name}:${port}`]
}

/** An address as it stands in a URL. */
export function hostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase()
}

/** An address that nobody but this machine reaches. */
export function isLoopbackAddress(host: string): boolean {
  return loopbackAddresses.includes(host.toLowerCase())
}

function hostOf(request: Request): string {
  return (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
}

function isLoopbackHost(host: string): boolean {
  return loopbackNames.includes(host.replace(/:\d{1,5}$/, ''))
}

function isOriginOf(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
