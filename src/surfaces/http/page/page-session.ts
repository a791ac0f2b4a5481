// The cookie that unlocks the files of the page, because a browser that opens an address cannot send other credentials. It unlocks no
// data: data requires the token in a header that other sites cannot make a browser send. Browsers send cookies of one port to all
// ports of the host, so it is named after the port, and its value is derived from the token with a one-way function.
import { createHmac } from 'node:crypto'
import { secretCheck } from '../../web/request-guard.ts'
import type { ServedRequest } from '../../web/served-request.ts'

type SessionRequest = Pick<ServedRequest, 'headers' | 'url'>

export type PageSession = ReturnType<typeof createPageSession>

/**
 * @param secret from which the cookie is derived; the cookie stays valid after a restart if the secret does.
 * @param basePath the path below which browsers send the cookie.
 */
export function createPageSession(secret: string, basePath: string) {
  const value = createHmac('sha256', secret).update('errand page').digest('base64url')
  const isValue = secretCheck(value)
  const attributes = `Path=${basePath || '/'}; HttpOnly; SameSite=Strict`
  return {
    holds: (request: SessionRequest) => cookiesOf(request).some(isValue),
    /** Value of `Set-Cookie` that sets the cookie. */
    setting: (request: SessionRequest) => `${nameOf(request)}=${value}; ${attributes}`,
    /** Value of `Set-Cookie` that deletes the cookie. */
    clearing: (request: SessionRequest) => `${nameOf(request)}=; ${attributes}; Max-Age=0`,
  }
}

/** The port is the one that the browser names, which a proxy may have changed. */
function nameOf({ url }: SessionRequest): string {
  return `errand-page-${url.port || defaultPort}`
}

/** Browsers leave out the port of the scheme. */
const defaultPort = 80

function cookiesOf(request: SessionRequest): string[] {
  const name = nameOf(request)
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}
