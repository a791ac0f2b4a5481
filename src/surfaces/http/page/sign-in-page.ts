// The sign-in page, with one field for the token. The browser tab stores the token, and the script of the page sends it with every
// request; the cookie only unlocks the files of the page.
import { createHash } from 'node:crypto'
import type { Answer } from '../../web/answer.ts'
import { guardingHeaders, policy } from './page-headers.ts'

/** Storage key under which the page finds the token. */
export const tokenKey = 'errand.token'

// After signing in, the script reloads the page once; a second failure is not retried.
const script = `
const form = document.querySelector('form')
const field = document.querySelector('input')
const output = document.querySelector('output')
const signIn = async (token) => {
  output.textContent = ''
  const headers = { authorization: 'Bearer ' + token }
  const response = await fetch('/session', { method: 'POST', headers }).catch(() => undefined)
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

const html = `<!doctype html>
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

const headers = {
  ...guardingHeaders,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'www-authenticate': 'Bearer realm="errand"',
  'content-security-policy': policy({ scripts: hashOf(script), styles: hashOf(style) }),
}

export function signInPage(): Answer {
  return { status: 401, headers, body: html }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
