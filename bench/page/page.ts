// The page with ten thousand tasks and two hundred events per second: the time of the first paint and of all rows, the duration of
// frames, and the cost of an open page for the engine. Rounds with and without a page alternate in one run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launchChromium, openPage, temporaryFolder, token } from '../../test/page/browser/world.ts'

const tasks = Number(process.env.BENCH_PAGE_TASKS ?? 10_000)
const perSecond = 200
const seconds = 10
const flooded = 4_000
const rounds = 5

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

const ms = (time: number) => `${Math.round(time)} ms`
const summary = ({ frames, p50, p99, longest, over50 }: Frames) =>
  `${frames} frames, p50 ${ms(p50)}, p99 ${ms(p99)}, longest ${ms(longest)}, ${over50} over 50 ms`

export async function page(): Promise<void> {
  console.log(`\nThe page: ${tasks} tasks, ${perSecond} events a second`)
  const folder = temporaryFolder()
  const server = fork(join(import.meta.dirname, 'server.ts'), [join(folder.path, 'bench.db'), token, String(tasks)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const answer = async () => ((await once(server, 'message')) as [{ result: unknown }])[0].result
  const order = (what: 'flood' | 'drip', a: number, b = 0): Promise<number> => {
    const answered = answer() as Promise<number>
    server.send({ do: what, a, b })
    return answered
  }
  try {
    const url = (await answer()) as string
    const browser = await launchChromium()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true })
    const first = await openPage(context, url)
    await first.page.close()
    const watching = await context.newPage()
    await watching.addInitScript(`sessionStorage.setItem('errand.token', ${JSON.stringify(token)})`)
    await watching.goto(url)
    await watching.getByRole('row').nth(5).waitFor()
    await watching.waitForFunction(`Number(document.querySelector('[role=treegrid]')?.ariaRowCount) > ${tasks}`)
    const loaded = Number(await watching.evaluate('performance.now()'))
    const paint = Number(
      await watching.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`),
    )
    console.log(`  first paint after ${ms(paint)}, all ${tasks} rows there after ${ms(loaded)}`)
    console.log(
      `  at rest:               ${summary(await framesDuring(watching, new Promise((go) => setTimeout(go, 2000))))}`,
    )
    let events = 0
    const dripping = await framesDuring(
      watching,
      order('drip', perSecond, seconds).then((sum) => (events = sum)),
    )
    console.log(`  ${Math.round(events / seconds)} events a second:   ${summary(dripping)}`)
    const scrolling = order('drip', perSecond, seconds)
    const scrolled = await framesDuring(
      watching,
      (async () => {
        const grid = watching.locator('.grid-body')
        for (let n = 1; n <= 40; n++) {
          await grid.evaluate((node, by) => Object.assign(node, { scrollTop: by }), (n * 28 * tasks) / 40)
          await watching.evaluate('new Promise((next) => requestAnimationFrame(next))')
        }
      })(),
    )
    await scrolling
    console.log(`  and scrolling:         ${summary(scrolled)}`)

    const sums = { watched: 0, unwatched: 0 }
    let there = tasks
    for (let round = 0; round < rounds; round++) {
      await watching.goto('about:blank')
      sums.unwatched += await order('flood', flooded)
      there += flooded
      await watching.goto(url)
      // The page has read and drawn all rows, because watching is measured and not opening.
      await watching.waitForFunction(`Number(document.querySelector('[role=treegrid]')?.ariaRowCount) > ${there}`)
      await watching.waitForTimeout(1_000)
      sums.watched += await order('flood', flooded)
      there += flooded
    }
    const [watched, unwatched] = [sums.watched / rounds, sums.unwatched / rounds]
    console.log(
      `  as fast as it can: ${Math.round(unwatched)} tasks a second unwatched, ${Math.round(watched)} with the page open: ${((100 * watched) / unwatched).toFixed(0)} %`,
    )
    await browser.close()
  } finally {
    server.kill()
    folder.remove()
  }
}

if (import.meta.main) await page()
