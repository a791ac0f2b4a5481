// Serves the page beside the routes: its files with a session, the sign-in page without one, and everything else from the routes.

import { createHash } from 'node:crypto'
import type { Answer } from '../../web/answer.ts'
import type { Peer, ServeFunction } from '../../web/node-server.ts'
import { methodNotAllowed, problemAnswer, Refusal, unauthenticated } from '../../web/problem.ts'
import { type RequestGuardOptions, refuseRequest } from '../../web/request-guard.ts'
import type { ServedRequest } from '../../web/served-request.ts'
import { pathBelow } from '../base-path.ts'
import type { PageFile, PageFiles } from './page-files.ts'
import { guardingHeaders, pagePolicy, policy } from './page-headers.ts'
import type { PageSession } from './page-session.ts'

export interface SiteOptions {
  /** The path under which the page and the routes are mounted; empty for none. */
  basePath: string
  guard: RequestGuardOptions
  /** Whether the request itself carries credentials. A refusal that it throws is sent as it is, any other error as 500. */
  hasCredentials: (request: ServedRequest, peer: Peer) => Promise<boolean>
  session: PageSession
  /** Undefined if the page has not been built. */
  page: () => PageFiles | undefined | Promise<PageFiles | undefined>
  /** Answers all other requests and verifies their credentials. */
  routes: ServeFunction
  /** Routes about the server without data of tasks; a session is sufficient to read them. */
  readable: readonly string[]
  /** Adds the credentials of the session to a request; undefined if they are not known. */
  withSessionCredentials: (request: ServedRequest) => ServedRequest | undefined
  onError: (error: unknown) => void
}

/** The options of a site with what is made of them once, or for each request. */
interface Parts extends Omit<SiteOptions, 'page'> {
  page: PageFiles | undefined
  signIn: () => Answer
}

export function createSite({ page: files, ...options }: SiteOptions): ServeFunction {
  const { basePath, routes, readable, onError } = options
  const signIn = signInPage(basePath)
  return async (request, peer) => {
    const path = pathBelow(request.url, basePath)
    try {
      const parts: Parts = { ...options, page: await files(), signIn }
      if (path === '/session') return await answerSession(request, peer, parts)
      const isOfPage = path === '/' || path.startsWith('/assets/') || parts.page?.has(path) === true
      if (isOfPage) return await answerPage(request, peer, path, parts)
      if (isReading(request) && readable.includes(path)) {
        const allowed = await reading(request, peer, parts)
        return 'status' in allowed ? allowed : await routes(allowed, peer)
      }
    } catch (error) {
      return problemAnswer(error, onError)
    }
    return routes(request, peer)
  }
}

/** Signing in requires credentials; signing out also requires the cookie. */
async function answerSession(
  request: ServedRequest,
  peer: Peer,
  { guard, hasCredentials, session }: Parts,
): Promise<Answer> {
  parseGuardOptions(request, guard)
  const isOut = request.method === 'DELETE'
  if (!(await hasCredentials(request, peer)) && !(isOut && session.holds(request))) throw unauthenticated()
  if (request.method !== 'POST' && !isOut) throw methodNotAllowed(['POST', 'DELETE'])
  const headers = {
    'set-cookie': isOut ? session.clearing(request) : session.setting(request),
    'cache-control': 'no-store',
  }
  return { status: 204, headers: { ...guardingHeaders, ...headers }, body: null }
}

async function answerPage(request: ServedRequest, peer: Peer, path: string, parts: Parts): Promise<Answer> {
  const { guard, hasCredentials, session, page, signIn } = parts
  parseGuardOptions(request, guard)
  if (!session.holds(request) && !(await hasCredentials(request, peer))) {
    if (isNavigation(request)) return signIn()
    throw unauthenticated()
  }
  if (!isReading(request)) throw methodNotAllowed(['GET', 'HEAD'])
  if (page === undefined) return notBuilt()
  const file = page.get(path)
  if (file === undefined) throw new Refusal('NOT_FOUND', 'This file does not exist.')
  return fileAnswer(request, path, file)
}

/** The request to pass on to the routes, or the answer. */
async function reading(request: ServedRequest, peer: Peer, parts: Parts): Promise<ServedRequest | Answer> {
  const { guard, hasCredentials, session, withSessionCredentials, signIn } = parts
  if (refuseRequest(request, guard) !== undefined) return request
  if (session.holds(request)) return withSessionCredentials(request) ?? request
  return isNavigation(request) && !(await hasCredentials(request, peer)) ? signIn() : request
}

function parseGuardOptions(request: ServedRequest, guard: RequestGuardOptions): void {
  const refused = refuseRequest(request, guard)
  if (refused !== undefined) throw new Refusal('FORBIDDEN', refused.why)
}

function isReading({ method }: ServedRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** True for a person who opens an address, as opposed to requests of the page or a program. */
function isNavigation(request: ServedRequest): boolean {
  return request.method === 'GET' && (request.headers.get('accept') ?? '').includes('text/html')
}

function fileAnswer(request: ServedRequest, path: string, { bytes, type, etag }: PageFile): Answer {
  const headers = {
    ...guardingHeaders,
    etag,
    'content-security-policy': pagePolicy,
    // File names with a content hash never change their content.
    'cache-control': path.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'private, no-cache',
  }
  if (request.headers.get('if-none-match') === etag) return { status: 304, headers, body: null }
  const length = `${bytes.byteLength}`
  return { status: 200, headers: { ...headers, 'content-type': type, 'content-length': length }, body: bytes }
}

function notBuilt(): Answer {
  const body =
    'The files of the page are missing. A clone of the repository makes them with "npm run build"; for the bundle of an application, ' +
    'install the package errand beside it. The routes are available; see /docs.\n'
  const headers = { ...guardingHeaders, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return { status: 503, headers, body }
}

// The sign-in page, with one field for the token. The browser tab stores the token, and the script of the page sends it with every
// request; the cookie only unlocks the files of the page.

/** Storage key under which the page finds the token. */
const tokenKey = 'errand.token'

// After signing in, the script reloads the page once; a second failure is not retried.
const scriptFor = (basePath: string) => `
const form = document.querySelector('form')
const field = document.querySelector('input')
const output = document.querySelector('output')
const signIn = async (token) => {
  output.textContent = ''
  const headers = { authorization: 'Bearer ' + token }
  const response = await fetch('${basePath}/session', { method: 'POST', headers }).catch(() => undefined)
  if (response?.ok) {
    sessionStorage.setItem('${tokenKey}', token)
    location.reload()
    return
  }
  sessionStorage.removeItem('${tokenKey}')
  output.textContent = response === undefined ? 'The server does not respond.'
    : response.status === 401 ? 'The token is invalid.' : 'The server refused the request: ' + response.status + '.'
  field.focus()
}
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const token = field.value.trim()
  if (/^[\\x21-\\x7e]+$/.test(token)) signIn(token)
  else output.textContent = 'A token consists of printable characters without spaces.'
})
const given = new URLSearchParams(location.hash.slice(1)).get('token')
if (given !== null) history.replaceState(null, '', location.pathname)
const [navigation] = performance.getEntriesByType('navigation')
const known = given ?? (navigation?.type === 'reload' ? null : sessionStorage.getItem('${tokenKey}'))
if (known) signIn(known)
`

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0; min-height: 100vh; display: grid; place-items: center }
main { width: min(24rem, 100vw - 2rem) }
h1 { font-size: 1.25rem }
label { display: block; margin-block-end: .25rem }
input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit }
button { margin-block-start: .75rem; padding: .5rem 1rem; font: inherit }
output { display: block; min-height: 1.5rem; margin-block-start: .75rem }
`

const htmlWith = (script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in – errand</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>errand</h1>
<form>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Sign in</button>
<output role="alert"></output>
</form>
<p>The token is the one that the server printed when it was started, or was given.</p>
<noscript>Signing in needs JavaScript.</noscript>
</main>
<script>${script}</script>
</body>
</html>
`

/** Answers with the sign-in page. */
function signInPage(basePath: string): () => Answer {
  const script = scriptFor(basePath)
  const headers = {
    ...guardingHeaders,
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'www-authenticate': 'Bearer realm="errand"',
    'content-security-policy': policy({ scripts: hashOf(script), styles: hashOf(style) }),
  }
  const body = htmlWith(script)
  return () => ({ status: 401, headers: { ...headers }, body })
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
