// The door of every surface over HTTP: who may come in, judged by the headers before anything of a request is read. A browser that
// was led astray knows no token, but it is turned away at its host and origin before it could try one.
import { hash, timingSafeEqual } from 'node:crypto'
import type { DoorOptions } from './door-options.ts'

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']
/** Of http, in which all servers here speak. */
const usualPort = 80
const loopbackAddresses = ['127.0.0.1', 'localhost', '::1']

export interface Refused {
  status: 403
  /** A sentence for people. */
  why: string
}

/** Why a request is not let in by its host or its origin; undefined for one that is. */
export function refusedAtDoor(
  request: Request,
  { allowedHosts, allowedOrigins = [] }: DoorOptions,
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

/** JSON in the one alphabet that JSON has. */
export function isJsonType(contentType: string | null): boolean {
  return /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/i.test(contentType?.trim() ?? '')
}

/** The loopback names at a port. */
function loopbackHosts(port: number): string[] {
  return loopbackNames.flatMap((name) => namesAt(name, port))
}

/** The values of `Host` under which a server at this address is reached: its own name, and the loopback names. */
export function hostsAt(host: string, port: number): string[] {
  return [...new Set([...loopbackHosts(port), ...namesAt(hostName(host), port)])]
}

/** Clients leave out the port that they would take anyway. */
function namesAt(name: string, port: number): string[] {
  return port === usualPort ? [name, `${name}:${port}`] : [`${name}:${port}`]
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
