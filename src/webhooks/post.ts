// Posts a webhook. The address may be one that a customer has given, so it must not lead into the network of the server: each address that
// the name resolves to is checked where the connection is made, and redirects are not followed.
import { type LookupAddress, lookup } from 'node:dns'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Failure } from '../core/errors.ts'
import { isLoopback } from '../entities/webhook-options.ts'

/** Networks that are not reached over the internet. */
const privateNetworks: ReadonlyArray<[address: string, prefix: number, family: 'ipv4' | 'ipv6']> = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

const blocked = new BlockList()
for (const [address, prefix, family] of privateNetworks) blocked.addSubnet(address, prefix, family)
const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** IPv4 addresses in IPv6 form count as what they are. */
function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

export interface PostRequest {
  url: string
  headers: Record<string, string>
  body: string
  allowPrivate: boolean
  signal: AbortSignal
}

export interface PostResponse {
  status: number
  /** The header `Retry-After` in milliseconds, if it is a number of seconds. */
  retryAfterMs: number | undefined
}

/** @throws Failure FORBIDDEN, final, for an address of a private network; what the connection failed with. */
export async function post({ url, headers, body, allowPrivate, signal }: PostRequest): Promise<PostResponse> {
  const target = new URL(url)
  const isAllowed = (address: string): boolean =>
    allowPrivate || (isLoopback(target) ? isIn(loopback, address) : !isIn(blocked, address))
  const literal = target.hostname.replace(/^\[|\]$/g, '')
  // An address is not looked up.
  if (isIP(literal) !== 0 && !isAllowed(literal)) throw forbidden(target.hostname, literal)
  const send = target.protocol === 'https:' ? requestSecure : requestPlain
  return await new Promise((resolve, reject) => {
    const sent = send(
      target,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        signal,
        agent: false,
        lookup: checkedLookup(isAllowed),
      },
      (response) => {
        const { statusCode: status = 0 } = response
        const seconds = Number(response.headers['retry-after'])
        // The answer means nothing besides its status.
        response.destroy()
        resolve({ status, retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

function checkedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const answer = callback as (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void
      const refused = error === null ? addresses.find(({ address }) => !isAllowed(address)) : undefined
      if (error !== null) answer(error, [])
      else if (refused !== undefined) answer(forbidden(hostname, refused.address), [])
      else if (options.all === true) answer(null, addresses)
      else answer(null, (addresses[0] as LookupAddress).address, (addresses[0] as LookupAddress).family)
    })
  }
}

function forbidden(hostname: string, address: string): Failure {
  return new Failure(
    `The webhook is not posted: ${hostname} is ${address === hostname ? '' : `${address}, `}an address of a private network. Give an address of the internet, or \`allowPrivate: true\` if it may lead into your network.`,
    { code: 'FORBIDDEN', retry: false },
  )
}
