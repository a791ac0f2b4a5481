// What the browser tests of the page share: a server in its own process, a Chromium, and a record of every event that the page receives.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { installChromium } from '../../../scripts/install-chromium.ts'

/** Long enough that nobody guesses it, as servers want it. */
export const token = 'a-token-for-the-tests-of-the-page-0123456789'
/** Whoever has this one may read, and nothing else. */
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

/** A server on a ledger; started again it listens where it listened before. */
export class ServedLedger {
  readonly #ledger: string
  #process: ChildProcess | undefined
  url = ''

  constructor(ledger: string) {
    this.#ledger = ledger
  }

  async start(): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port
    this.#process = fork(join(import.meta.dirname, 'server.ts'), [this.#ledger, port, token, readersToken], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const [{ url }] = (await once(this.#process, 'message')) as [{ url: string }]
    this.url = url
  }

  /** Without a word of warning. */
  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null) return
    const gone = once(running, 'exit')
    running.kill('SIGKILL')
    await gone
  }

  /** Calls an ability in the server's own process. One at a time. */
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

/** Runs in the page before anything else: keeps the number of every event of the feed that comes in over the network. */
function recordFeed(): void {
  const heard: number[] = []
  Object.assign(globalThis, { heardEvents: heard })
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
      for (const id of events.flatMap((event) => /^id: ?(\d+)$/m.exec(event)?.[1] ?? [])) heard.push(Number(id))
    }
    // Read only when the page reads: what a broken connection takes away from the one, the other does not get either.
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

/** The numbers of the events that the page has heard, in the order in which they came. */
export function heardBy(page: Page): Promise<number[]> {
  return page.evaluate(() => (globalThis as unknown as { heardEvents: number[] }).heardEvents)
}

/** A page that has signed in, and whatever it complained of. */
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
