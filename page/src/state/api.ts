// The client of the engine's routes, with the token of this tab, and the timers of the page.

import { ApiClient } from '../live/api-client.ts'
import type { SourceTimers } from '../live/event-source.ts'
import type { FrameClock } from '../model/throttle.ts'

const tokenKey = 'errand.token'
const signedOutKey = 'errand.signed-out'

/** A tab that is opened with a link that has a token is signed in by it. The token is removed before the address is read as a route. */
const tokenOfLink = new URLSearchParams(location.hash.slice(1)).get('token')
if (tokenOfLink !== null) {
  sessionStorage.setItem(tokenKey, tokenOfLink)
  history.replaceState(null, '', location.pathname)
}

export const clock: FrameClock & SourceTimers = {
  now: () => performance.now(),
  // A page in the background gets no frames, but must be current when it is shown again.
  frame: (callback) => {
    if (document.hidden) setTimeout(callback, 50)
    else requestAnimationFrame(() => callback())
  },
  later: (callback, ms) => setTimeout(callback, ms),
  cancel: (timer) => clearTimeout(timer as number),
  random: () => Math.random(),
}

/** Scripts are in a folder of the page, which may be opened without a slash at the end of its address. */
const scripts = import.meta.url

export const api = new ApiClient({
  base: new URL('..', scripts).href,
  fetch: (...request) => fetch(...request),
  token: () => sessionStorage.getItem(tokenKey),
  signedOut: () => void signOutOnce(),
})

/** Reloads once to show the server's sign-in page; reloading again would not help. */
async function signOutOnce(): Promise<void> {
  const before = Number(sessionStorage.getItem(signedOutKey) ?? 0)
  if (Date.now() - before < 5_000) return
  sessionStorage.setItem(signedOutKey, String(Date.now()))
  sessionStorage.removeItem(tokenKey)
  await fetch(new URL('session', api.base), { method: 'DELETE' }).catch(() => undefined)
  location.reload()
}
