// The page beside the routes: who gets its files, signing in and out, and that its cookie gives access to nothing else.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type PageFiles, readPage } from '../../../../src/surfaces/http/page/page-files.ts'
import { createPageSession } from '../../../../src/surfaces/http/page/page-session.ts'
import { createSite, type SiteOptions } from '../../../../src/surfaces/http/page/site.ts'
import { toResponse } from '../../../../src/surfaces/web/answer.ts'
import { tokenCheck } from '../../../../src/surfaces/web/request-guard.ts'
import { FetchedRequest, type ServedRequest } from '../../../../src/surfaces/web/served-request.ts'

const token = 'a-token-that-is-long-enough-for-a-test'
const bearsToken = tokenCheck(token)
const bearer = { authorization: `Bearer ${token}` }
const browser = { accept: 'text/html,application/xhtml+xml' }

/** A folder like that of a build of the page. */
async function builtPage(): Promise<PageFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>the page</title>')
  writeFileSync(join(folder, 'licenses.txt'), 'free')
  writeFileSync(join(folder, 'assets', 'main-1a2b.js'), 'run()')
  return (await readPage('', [join(folder, 'nowhere'), folder])) as PageFiles
}

async function open(options: Partial<SiteOptions> = {}) {
  const routed: ServedRequest[] = []
  const errors: unknown[] = []
  const files = await builtPage()
  const site = createSite({
    basePath: '',
    guard: { allowedOrigins: ['https://app.example.org'] },
    hasCredentials: async (request) => bearsToken(request),
    session: createPageSession(token, ''),
    page: () => files,
    routes: (request) => {
      routed.push(request)
      return { status: bearsToken(request) ? 200 : 401, headers: {}, body: 'routes' }
    },
    readable: ['/docs'],
    withSessionCredentials: (request) => new FetchedRequest(new Request(request.toRequest(), { headers: bearer })),
    onError: (error) => errors.push(error),
    ...options,
  })
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const request = new FetchedRequest(new Request(`http://127.0.0.1:4711${path}`, { method, headers }))
    return toResponse(await site(request, { address: '127.0.0.1' }))
  }
  const cookie = async () => {
    const given = (await ask('/session', bearer, 'POST')).headers.get('set-cookie') as string
    return { cookie: given.split(';')[0] as string }
  }
  return { ask, routed, errors, cookie }
}

it('the files of the page require a session: a browser gets the sign-in page, a program a refusal', async () => {
  const { ask, routed } = await open()
  for (const path of ['/', '/assets/main-1a2b.js', '/assets/none.js', '/licenses.txt']) {
    const person = await ask(path, browser)
    expect([path, person.status, person.headers.get('content-type')]).toEqual([path, 401, 'text/html; charset=utf-8'])
    expect(person.headers.get('www-authenticate')).toContain('Bearer')
    const program = await ask(path)
    expect([path, program.status]).toEqual([path, 401])
    expect(await program.json()).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
  }
  expect(routed).toEqual([])
})

it('the files of the page are served with types, ETags and a policy that blocks requests to other servers', async () => {
  const { ask, cookie } = await open()
  const page = await ask('/', await cookie())
  expect(await page.text()).toContain('the page')
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; .*frame-ancestors 'none'$/,
    ) as string,
  })
  const script = await ask('/assets/main-1a2b.js', bearer)
  expect([await script.text(), script.headers.get('content-type')]).toEqual(['run()', 'text/javascript; charset=utf-8'])
  expect(script.headers.get('cache-control')).toContain('immutable')
  const again = await ask('/', { ...bearer, 'if-none-match': page.headers.get('etag') as string })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

it('the files of the page are only those of the build, whatever path is requested', async () => {
  const { ask } = await open()
  for (const path of ['/assets/none.js', '/assets/', '/assets/../../../package.json', '/assets/..%2f..%2findex.html']) {
    expect([path, (await ask(path, bearer)).status]).toEqual([path, path.includes('package') ? 200 : 404])
  }
  expect((await ask('/', bearer, 'POST')).status).toBe(405)
  expect((await ask('/', bearer, 'HEAD')).status).toBe(200)
})

it('a page whose files are missing is answered with what makes them, and the routes are served', async () => {
  expect(await readPage('', ['/nowhere'])).toBeUndefined()
  const { ask } = await open({ page: () => undefined })
  const page = await ask('/', bearer)
  const text = await page.text()
  expect([page.status, text]).toEqual([503, expect.stringContaining('npm run build') as string])
  expect(text).toContain('install the package errand beside it')
  expect((await ask('/tasks', bearer)).status).toBe(200)
})

it('signing in to the page accepts the token and sets a cookie for this port that scripts and other sites cannot use', async () => {
  const { ask } = await open()
  expect((await ask('/session', {}, 'POST')).status).toBe(401)
  expect((await ask('/session', { authorization: 'Bearer another' }, 'POST')).status).toBe(401)
  const response = await ask('/session', bearer, 'POST')
  expect([response.status, response.headers.get('set-cookie')]).toEqual([
    204,
    expect.stringMatching(/^errand-page-4711=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/) as string,
  ])
  expect(response.headers.get('set-cookie')).not.toContain(token)
  expect((await ask('/session', bearer)).status).toBe(405)
})

it('signing in to the page survives a restart with the same token, but not with another', async () => {
  const at = (port: number, cookie = '') =>
    new FetchedRequest(new Request(`http://127.0.0.1:${port}/`, { headers: { cookie } }))
  const before = `a=b; ${createPageSession(token, '').setting(at(4711)).split(';')[0]}; c=d`
  expect(createPageSession(token, '').holds(at(4711, before))).toBe(true)
  expect(createPageSession(`${token}x`, '').holds(at(4711, before))).toBe(false)
  expect(createPageSession(token, '').holds(at(4712, before))).toBe(false)
})

it('signing in to the page unlocks the page and the description of the server, but no data', async () => {
  const { ask, cookie, routed } = await open()
  const signedIn = await cookie()
  expect((await ask('/', signedIn)).status).toBe(200)
  expect((await ask('/docs', signedIn)).status).toBe(200)
  expect((await ask('/docs', { ...signedIn, host: 'evil.example' })).status).toBe(401)
  for (const [method, path] of [
    ['GET', '/tasks'],
    ['POST', '/docs'],
    ['POST', '/tasks'],
    ['GET', '/events'],
  ] as const) {
    expect([method, path, (await ask(path, signedIn, method)).status]).toEqual([method, path, 401])
  }
  expect(routed.map(({ headers }) => headers.get('authorization'))).toEqual([
    bearer.authorization,
    null,
    null,
    null,
    null,
    null,
  ])
})

it('a session of the page ends with the cookie or with the token', async () => {
  const { ask, cookie } = await open()
  expect((await ask('/session', {}, 'DELETE')).status).toBe(401)
  for (const headers of [await cookie(), bearer]) {
    const out = await ask('/session', headers, 'DELETE')
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0') as string])
  }
})

it('signing in to the page is refused for other sites: host and origin are checked before the token', async () => {
  const { ask, cookie } = await open()
  const signedIn = await cookie()
  const origin = 'https://evil.example'
  for (const headers of [bearer, signedIn]) {
    expect((await ask('/', { ...headers, origin })).status).toBe(403)
    expect((await ask('/', { ...headers, host: 'evil.example' })).status).toBe(403)
    expect((await ask('/session', { ...headers, origin }, 'DELETE')).status).toBe(403)
    expect((await ask('/', { ...headers, origin: 'https://app.example.org' })).status).toBe(200)
  }
})

it('the sign-in page runs only its own script and style', async () => {
  const { ask } = await open()
  const response = await ask('/', browser)
  const html = await response.text()
  const policy = response.headers.get('content-security-policy') as string
  for (const tag of ['script', 'style']) {
    const inline = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] as string
    const digest = createHash('sha256').update(inline).digest('base64')
    expect(policy).toContain(`${tag}-src 'sha256-${digest}'`)
  }
  expect(html).not.toMatch(/(?:src|href)=/)
  expect(html).toContain('<label for="token">')
  expect(response.headers.get('cache-control')).toBe('no-store')
})

it('the page reports an error of authenticate and admits no client', async () => {
  const { ask, errors } = await open({
    hasCredentials: async () => {
      throw new Error('the directory is down')
    },
  })
  const response = await ask('/')
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('directory')
  expect(errors).toEqual([new Error('the directory is down')])
})
