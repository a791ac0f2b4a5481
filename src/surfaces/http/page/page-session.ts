// The cookie that unlocks the files of the page, because a browser that opens an address cannot send other credentials. It unlocks no
// data: data requires the token in a header that other sites cannot make a browser send. Browsers send cookies of one port to all
// ports of the host, so the value is derived from the token with a one-way function.
import { createHmac } from 'node:crypto'
import { secretCheck } from '../../web/request-guard.ts'
import type { ServedRequest } from '../../web/served-request.ts'

type RequestWithCookies = Pick<ServedRequest, 'headers'>

export type PageSession = ReturnType<typeof createPageSession>

/** @param secret from which the cookie is derived; the cookie stays valid after a restart if the secret does. */
export function createPageSession(secret: string, port: number) {
  const name = `errand-page-${port}`
  const value = createHmac('sha256', secret).update('errand page').digest('base64url')
  const isValue = secretCheck(value)
  const attributes = 'Path=/; HttpOnly; SameSite=Strict'
  return {
    holds: (request: RequestWithCookies) => cookiesOf(request, name).some(isValue),
    /** Value of `Set-Cookie` that sets the cookie. */
    setting: () => `${name}=${value}; ${attributes}`,
    /** Value of `Set-Cookie` that deletes the cookie. */
    clearing: () => `${name}=; ${attributes}; Max-Age=0`,
  }
}

function cookiesOf(request: RequestWithCookies, name: string): string[] {
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}
