// The cookie that unlocks the files of the page, because a browser that opens an address can send nothing else. It unlocks no data:
// data wants the token, in a header that no other site can make a browser send. Browsers send the cookies of one port to all others
// of the same name, so its value is made from the token by a function that nobody turns around.
import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../../web/request-guard.ts'

export type PageSession = ReturnType<typeof createPageSession>

/** @param secret what the cookie is made from: the same one after a restart, if the secret is. */
export function createPageSession(secret: string, port: number) {
  const name = `errand-page-${port}`
  const value = createHmac('sha256', secret).update('errand page').digest('base64url')
  const attributes = 'Path=/; HttpOnly; SameSite=Strict'
  return {
    holds: (request: Request) => cookiesOf(request, name).some((each) => isSameSecret(each, value)),
    /** Value of `Set-Cookie` that gives the cookie to a browser. */
    setting: () => `${name}=${value}; ${attributes}`,
    /** The same that takes it away. */
    clearing: () => `${name}=; ${attributes}; Max-Age=0`,
  }
}

function cookiesOf(request: Request, name: string): string[] {
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}
