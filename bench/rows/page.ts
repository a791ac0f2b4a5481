// The page with many tasks and many events: the time of the first paint and of all rows, the duration of frames, and what an open page
// costs the engine.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { launchChromium, openPage, temporaryFolder, token } from '../../test/page/browser/world.ts'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow, type Figures } from '../runner/row.ts'
import { median } from '../runner/statistics.ts'

interface Size {
  tasks: number
  /** Events. */
  perSecond: number
  seconds: number
  /** Tasks that run as fast as they can, watched and unwatched. */
  flooded: number
  floods: number
}

interface Frames {
  frames: number
  p50: number
  p99: number
  longest: number
  over50: number
}

/** Times between frames, in milliseconds, during a load. */
async function framesDuring(page: Page, load: Promise<unknown>): Promise<Frames> {
  await page.evaluate(`
    const times = (globalThis.frameTimes = [])
    let last = performance.now()
    const count = (now) => {
      times.push(now - last)
      last = now
      if (times === globalThis.frameTimes) requestAnimationFrame(count)
    }
    requestAnimationFrame(count)
  `)
  await load
  const times = (await page.evaluate('const times = frameTimes; globalThis.frameTimes = []; times')) as number[]
  const sorted = times.slice(1).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    frames: sorted.length,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
    over50: sorted.filter((time) => time > 50).length,
  }
}

/** An engine with its server in a process of its own. */
async function startServer(ledger: string, tasks: number) {
  const server = fork(join(import.meta.dirname, '../page/server.ts'), [ledger, token, String(tasks)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const answer = async () => ((await once(server, 'message')) as [{ result: unknown }])[0].result
  const url = (await answer()) as string
  return {
    url,
    order(what: 'flood' | 'drip', a: number, b = 0): Promise<number> {
      const answered = answer() as Promise<number>
      server.send({ do: what, a, b })
      return answered
    },
    stop: (): boolean => server.kill(),
  }
}

type Server = Awaited<ReturnType<typeof startServer>>

const allRowsThere = (tasks: number): string =>
  `Number(document.querySelector('[role=treegrid]')?.ariaRowCount) > ${tasks}`

/** Scrolls through all rows. */
async function scroll(watching: Page, tasks: number): Promise<void> {
  const grid = watching.locator('.grid-body')
  for (let n = 1; n <= 40; n++) {
    await grid.evaluate((node, by) => Object.assign(node, { scrollTop: by }), (n * 28 * tasks) / 40)
    await watching.evaluate('new Promise((next) => requestAnimationFrame(next))')
  }
}

/** The rate of the engine with the page open, as a share of its rate without. */
async function watchedShare(watching: Page, server: Server, { tasks, flooded, floods }: Size): Promise<number> {
  const shares: number[] = []
  let there = tasks
  for (let flood = 0; flood < floods; flood++) {
    await watching.goto('about:blank')
    const unwatched = await server.order('flood', flooded)
    there += flooded
    await watching.goto(server.url)
    // The page has read and drawn all rows, because watching is measured and not opening.
    await watching.waitForFunction(allRowsThere(there))
    await delay(1_000)
    shares.push((100 * (await server.order('flood', flooded))) / unwatched)
    there += flooded
  }
  return median(shares)
}

async function measurePage(size: Size, server: Server): Promise<Figures> {
  const { tasks, perSecond, seconds } = size
  const browser = await launchChromium()
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true })
    const first = await openPage(context, server.url)
    await first.page.close()
    const watching = await context.newPage()
    await watching.addInitScript(`sessionStorage.setItem('errand.token', ${JSON.stringify(token)})`)
    await watching.goto(server.url)
    await watching.getByRole('row').nth(1).waitFor()
    await watching.waitForFunction(allRowsThere(tasks))
    const loaded = Number(await watching.evaluate('performance.now()'))
    const paint = Number(
      await watching.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`),
    )
    const events = await framesDuring(watching, server.order('drip', perSecond, seconds))
    const scrolling = server.order('drip', perSecond, seconds)
    const scrolled = await framesDuring(watching, scroll(watching, tasks))
    await scrolling
    return {
      paint,
      loaded,
      frame: events.p99,
      scroll: scrolled.p99,
      watched: await watchedShare(watching, server, size),
    }
  } finally {
    await browser.close()
  }
}

export const page = defineRow<Size, Size>({
  name: 'page',
  title: 'The page',
  method:
    'The page in Chromium, with 200 events a second while the frames are measured. At the end trivial tasks run as fast as they can, ' +
    'alternately with the page closed and open.',
  figures: {
    paint: { label: 'first paint', unit: 'ms', better: 'less' },
    loaded: { label: 'all rows', unit: 'ms', better: 'less' },
    frame: { label: 'frame p99', unit: 'ms', better: 'less' },
    scroll: { label: 'frame p99, scrolling', unit: 'ms', better: 'less' },
    watched: { label: 'rate while watched', unit: '%', better: 'more' },
  },
  sizes: {
    full: { tasks: 10_000, perSecond: 200, seconds: 10, flooded: 4_000, floods: 5 },
    quick: { tasks: 2_000, perSecond: 200, seconds: 3, flooded: 1_000, floods: 1 },
    tiny: { tasks: 20, perSecond: 20, seconds: 1, flooded: 5, floods: 1 },
  },
  rounds: { full: 1, quick: 1, tiny: 1 },
  cases: (size) => [{ name: `${size.tasks.toLocaleString('en')} tasks`, given: size }],
  sides: {
    errand: {
      durability: floorDurability,
      async measure(size) {
        const folder = temporaryFolder()
        const server = await startServer(join(folder.path, 'bench.db'), size.tasks)
        try {
          return await measurePage(size, server)
        } finally {
          server.stop()
          folder.remove()
        }
      },
    },
  },
})
