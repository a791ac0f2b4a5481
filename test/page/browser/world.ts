// What the browser tests of the page share: a server in its own process, a Chromium, and a record of every event that the page receives.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { installChromium } from '../../../scripts/install-chromium.ts'
import { programOf } from '../../programs.ts'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Servers require a length that cannot be guessed. */
export const token = 'a-token-for-the-tests-of-the-page-0123456789'
/** Has only the scope read. */
export const readersToken = 'a-token-for-who-only-reads-the-page-01234567'

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: installChromium(), headless: true, args: quiet })
}

export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'errand-page-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A server on a ledger; when it is started again it listens on the same port. */
export class ServedLedger {
  readonly #ledger: string
  #process: ChildProcess | undefined
  url = ''

  constructor(ledger: string) {
    this.#ledger = ledger
  }

  async start(): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port
    this.#process = fork(programOf(import.meta.dirname, 'server.ts'), [this.#ledger, port, token, readersToken], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const [{ url }] = (await once(this.#process, 'message')) as [{ url: string }]
    this.url = url
  }

  /** With SIGKILL, so that the server cannot clean up. */
  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }

  /** Calls an ability in the server's own process. Calls must not overlap. */
  async call<T = Record<string, unknown>>(ability: string, input: unknown): Promise<T> {
    const running = this.#process as ChildProcess
    const answered = once(running, 'message')
    running.send({ ability, input })
    const [{ result, error }] = (await answered) as [{ result?: T; error?: string }]
    if (error !== undefined) throw new Error(error)
    return result as T
  }

  async create(input: Record<string, unknown>): Promise<string> {
    return (await this.call<{ taskId: string }>('task:create', input)).taskId
  }

  async statusOf(taskId: string): Promise<string> {
    return (await this.call<{ task: { status: string } }>('task:get', { taskId })).task.status
  }
}

/** Runs in the page before its scripts: keeps the position of every event of the feed that arrives over the network. */
function recordFeed(): void {
  const received: number[] = []
  Object.assign(globalThis, { receivedEvents: received })
  const fetchAnything = globalThis.fetch
  globalThis.fetch = async (...request) => {
    const response = await fetchAnything(...request)
    const isFeed = new URL(response.url).pathname === '/events' && response.ok && response.body !== null
    if (!isFeed) return response
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let rest = ''
    const keep = (bytes: Uint8Array): void => {
      const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
      rest = events.pop() ?? ''
      for (const id of events.flatMap((event) => /^id: ?(\d+)$/m.exec(event)?.[1] ?? [])) received.push(Number(id))
    }
    // Reads only when the page reads, so that events lost with a connection are missing in the record too.
    const given = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          keep(value)
          controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
    return new Response(given, { status: response.status, headers: response.headers })
  }
}

/** The positions of the events that the page has received, in the order of arrival. */
export function receivedBy(page: Page): Promise<number[]> {
  return page.evaluate(() => (globalThis as unknown as { receivedEvents: number[] }).receivedEvents)
}

/** A signed-in page, and the errors that it has logged. */
export async function openPage(
  context: BrowserContext,
  url: string,
  hash = '#/',
  signedInWith = token,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complaints.push(`asks ${request.url()}`)
  })
  await page.addInitScript(recordFeed)
  await page.goto(`${url}/#token=${signedInWith}`)
  await page.getByRole('treegrid', { name: 'Tasks' }).waitFor()
  if (hash !== '#/') await page.goto(`${url}/${hash}`)
  return { page, complaints }
}

/** The faults that axe finds in a page whose context has `bypassCSP`: rule and element. `rules`: by default all that axe enables. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.addScriptTag({ path: axe })
  const found = await page.evaluate(async (runOnly?: readonly string[]) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: unknown[] }> } }
    // The elements that pass each rule are not gathered.
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(runOnly && { runOnly: { type: 'rule', values: runOnly } }),
    })
    return violations as Array<{ id: string; nodes: Array<{ html: string }> }>
  }, rules)
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

/** Those of axe's rules that depend on colours and run by default. */
const rulesOfColours = ['color-contrast', 'link-in-text-block']

/** The faults that axe finds in a view in both themes: these have the same elements in other colours. */
export async function violationsInBothThemes(page: Page): Promise<string[]> {
  const found = await violations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const inDark = await violations(page, rulesOfColours)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...found, ...inDark.map((fault) => `in the dark theme, ${fault}`)]
}
