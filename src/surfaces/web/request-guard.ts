// Validates requests of every surface over HTTP by their headers, before the body is read. Host and origin are checked before the
// credentials, so a page in a browser cannot even try a token (DNS rebinding, cross-site requests). Also holds the options of listening
// addresses and tokens that all surfaces share.
import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { safeReporter } from '../../core/guarded.ts'
import { randomText } from '../../core/ids.ts'
import { functionOf } from '../../core/parse.ts'
import type { ServedRequest } from './served-request.ts'

/** Which hosts and origins a request may name. */
export interface RequestGuardOptions {
  /**
   * Values of the `Host` header that are served, port included (`example.org`, `127.0.0.1:8080`). Default: the loopback names, with any
   * port where the port is not known.
   */
  allowedHosts?: readonly string[] | undefined
  /** Origins of web pages that may send requests, like `https://example.org`. Default: only the origin of the host itself. */
  allowedOrigins?: readonly string[] | undefined
}

export interface ListenAddressOptions {
  /** The address to listen at. Default 127.0.0.1. Any other than loopback requires a token or `authenticate`. */
  host?: string | undefined
  /** Default 0: any free port. */
  port?: number | undefined
}

export const onErrorSchema = functionOf<(error: unknown) => void>('(error)')
  .default(() => () => {})
  .transform((onError) => safeReporter(onError))

export const tokenSchema = z.custom<string | false>(
  (value) => value === false || (typeof value === 'string' && /^[\x21-\x7e]{32,}$/.test(value)),
  'expected at least 32 printable characters without spaces, or `false` for access without a token',
)

/** Hosts are compared in lower case, port included. Default: the loopback names. */
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
/** The default port of http, the only scheme that the servers here use. */
const defaultPort = 80
const loopbackAddresses = ['127.0.0.1', 'localhost', '::1']

export interface Refused {
  status: 403
  /** A sentence for people. */
  why: string
}

/** Returns why the request's host or origin is refused; undefined if both are allowed. */
export function refuseRequest(
  request: Pick<ServedRequest, 'headers' | 'url'>,
  { allowedHosts, allowedOrigins = [] }: RequestGuardOptions,
): Refused | undefined {
  const host = hostOf(request)
  if (!(allowedHosts === undefined ? isLoopbackHost(host) : allowedHosts.includes(host))) {
    return {
      status: 403,
      why: 'This Host is not allowed. The operator of the server can add it to `allowedHosts` (`--allow-host`).',
    }
  }
  const origin = request.headers.get('origin')
  if (origin !== null && !isOriginOf(origin, host) && !allowedOrigins.includes(origin)) {
    return {
      status: 403,
      why: 'This Origin is not allowed. The operator of the server can add it to `allowedOrigins`.',
    }
  }
  return undefined
}

/** Whether requests carry the token. */
export function tokenCheck(token: string): (request: Pick<ServedRequest, 'headers'>) => boolean {
  const isToken = secretCheck(token)
  return ({ headers }) => isToken(bearerIn(headers.get('authorization')) ?? '')
}

/** The token of an `Authorization` header; undefined if it has none. */
export function bearerIn(authorization: string | null | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

/**
 * Compares as many bytes as the secret has, whatever is given, so that the duration does not reveal how much of it is correct. The length
 * of a secret is not secret.
 */
export function secretCheck(secret: string): (given: string) => boolean {
  const expected = Buffer.from(secret)
  return (given) => {
    const compared = Buffer.alloc(expected.length)
    compared.write(given)
    return timingSafeEqual(compared, expected) && Buffer.byteLength(given) === expected.length
  }
}

/** A random bearer token of 52 letters and digits, 260 bits. */
export const makeToken = (): string => randomText(52)

/**
 * @param would what every client could do at that address, for the message.
 * @throws ErrandError FORBIDDEN { host } for an address other than loopback without a token.
 */
export function requireGuard(host: string, token: string | false | undefined, would: string): void {
  if (token !== false || isLoopbackAddress(host)) return
  throw new ErrandError(
    'FORBIDDEN',
    `Serving at ${host} without a token would let every client on the network ${would}. Set a token, or serve at 127.0.0.1.`,
    { host },
  )
}

/** True for `application/json` in UTF-8. */
export function isJsonType(contentType: string | null): boolean {
  return /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/i.test(contentType?.trim() ?? '')
}

/** The values of `Host` that reach a server at this address: its own name and the loopback names. */
export function hostsAt(host: string, port: number): string[] {
  return [...new Set([...loopbackNames, hostName(host)].flatMap((name) => namesAt(name, port)))]
}

/** Clients omit the default port. */
function namesAt(name: string, port: number): string[] {
  return port === defaultPort ? [name, `${name}:${port}`] : [`${name}:${port}`]
}

/** An address as it is written in a URL. */
export function hostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase()
}

/** True for an address that only this machine can reach. */
export function isLoopbackAddress(host: string): boolean {
  return loopbackAddresses.includes(host.toLowerCase())
}

function hostOf(request: Pick<ServedRequest, 'headers' | 'url'>): string {
  return (request.headers.get('host') ?? request.url.host).toLowerCase()
}

function isLoopbackHost(host: string): boolean {
  return loopbackNames.includes(host.replace(/:\d{1,5}$/, ''))
}

function isOriginOf(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
