// The page in a real Chromium: thousands of tasks, the past, a client with the scope read only, and the facts of a task.
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  launchChromium,
  openPage,
  readersToken,
  ServedLedger,
  temporaryFolder,
  token,
} from '../../../page/browser/world.ts'

const folder = temporaryFolder()
const server = new ServedLedger(join(folder.path, 'page.db'))
const thousands = 3_000
let browser: Browser

beforeAll(async () => {
  ;[browser] = await Promise.all([launchChromium(), server.start()])
  await server.create({ name: 'First of all', autoStart: false })
}, 300_000)

afterAll(async () => {
  await browser?.close()
  await server.kill()
  folder.remove()
})

async function newContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  onTestFinished(() => context.close())
  return context
}

async function signedIn(hash?: string, by = token): Promise<Page> {
  const { page, complaints } = await openPage(await newContext(), server.url, hash, by)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

const line = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const action = (page: Page, name: string) =>
  page.getByRole('toolbar', { name: 'Actions' }).getByRole('button', { name, exact: true })
const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

/** The number of lines of the list, including those that are not visible. */
async function lineCount(page: Page): Promise<number> {
  return Number(await page.getByRole('treegrid', { name: 'Tasks' }).getAttribute('aria-rowcount')) - 1
}

it('the page retries a failed task, and shows that it is completed', async () => {
  const taskId = await server.create({ name: 'Fire the bowl', executor: 'failsOnce' })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('img', { name: /the task is failed/ }).waitFor()
  await page.getByText('The kiln is cold.').first().waitFor()
  expect(await action(page, 'Pause').count()).toBe(0)
  await action(page, 'Retry').click()
  await inDialog(page, 'Retry').click()
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  expect(await server.statusOf(taskId)).toBe('completed')
})

it('the page shows the facts of a task page by page, with their confidence', async () => {
  const taskId = await server.create({ name: 'Watch the birds', objectives: ['Count them'], executor: 'rests' })
  await server.call('agent:join', { taskId, agentId: 'ann', role: 'watcher' })
  for (let n = 1; n <= 23; n++) {
    await server.call('mem:remember', { taskId, text: `There are ${n} birds on wire ${n}`, confidence: 0.75 })
  }
  const page = await signedIn(`#/task/${taskId}`)
  const facts = page.getByRole('list', { name: 'Facts', exact: true }).getByRole('listitem')
  await facts.first().waitFor()
  await expect.poll(() => facts.count()).toBe(20)
  expect(await facts.first().innerText()).toMatch(/23 birds on wire 23.*75 % sure, active/s)
  await page.getByRole('button', { name: 'Show more facts' }).click()
  await expect.poll(() => facts.count()).toBe(23)
  expect(await page.getByRole('button', { name: 'Show more facts' }).count()).toBe(0)
})

it('the page shows no section of facts for a task without facts', async () => {
  const taskId = await server.create({ name: 'Know nothing', executor: 'count', input: { to: 1, ms: 1 } })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  expect(await page.getByRole('list', { name: 'Facts', exact: true }).count()).toBe(0)
})

it('the page shows a refusal in the dialog to a client with the scope read, and keeps the input', async () => {
  const taskId = await server.create({ name: 'Not for readers', executor: 'rests' })
  const page = await signedIn(`#/task/${taskId}`, readersToken)
  await page.getByRole('img', { name: /the task is working/ }).waitFor()
  await action(page, 'Send message').click()
  await page.getByRole('dialog').getByLabel('Message').fill('Let me in.')
  await inDialog(page, 'Send').click()
  await page.getByRole('dialog').getByRole('alert').getByText('FORBIDDEN').waitFor()
  expect(await page.getByRole('dialog').getByLabel('Message').inputValue()).toBe('Let me in.')
  expect((await server.call<{ messages: unknown[] }>('task:messages', { taskId })).messages).toEqual([])
})

it('a second tab that is opened with the link of the first is signed in by it at once', async () => {
  const context = await newContext()
  await openPage(context, server.url)
  const loads: string[] = []
  context.on('request', (request) => {
    if (request.isNavigationRequest() || request.method() === 'DELETE') loads.push(request.method())
  })
  const { page } = await openPage(context, server.url)
  await page.getByLabel('Theme').waitFor()
  expect(loads).toEqual(['GET'])
  expect(page.url()).not.toContain('token')
})

it('the page keeps the chosen theme for the next visit', async () => {
  const context = await newContext({ colorScheme: 'light' })
  const { page } = await openPage(context, server.url)
  const ground = (of: Page) => of.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const light = await ground(page)
  await page.getByLabel('Theme').selectOption('dark')
  await expect.poll(() => ground(page)).not.toBe(light)
  const dark = await ground(page)
  const again = await openPage(context, server.url)
  expect(await again.page.getByLabel('Theme').inputValue()).toBe('dark')
  expect(await ground(again.page)).toBe(dark)
  await again.page.getByLabel('Theme').selectOption('auto')
  await expect.poll(() => ground(again.page)).toBe(light)
})

it('the wheel scrolls the page over a timeline, and zooms the timeline with Ctrl', async () => {
  const taskId = await server.create({ name: 'Long road', executor: 'count', input: { to: 5, ms: 20 } })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  await page.getByRole('heading', { name: 'Result' }).waitFor()
  await page.getByRole('group', { name: /^Timeline/ }).hover()
  const whole = page.getByRole('button', { name: 'Whole timeline' })
  await page.mouse.wheel(0, 40)
  await expect.poll(() => page.evaluate<number>("document.getElementById('main').scrollTop")).toBeGreaterThan(0)
  expect(await whole.isDisabled()).toBe(true)
  await page.getByRole('group', { name: /^Timeline/ }).hover()
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -100)
  await page.keyboard.up('Control')
  await expect.poll(() => whole.isEnabled()).toBe(true)
})

it('the page lists, filters and searches thousands of tasks, and renders only the visible lines', async () => {
  const tasks = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [
      `part${n}`,
      { name: n === 42 ? 'Keel of oak' : `Part ${n}`, autoStart: false, tags: ['part'] },
    ]),
  )
  for (let n = 0; n < thousands / 100; n++) await server.create({ name: `Load ${n}`, autoStart: false, tasks })
  const page = await signedIn()
  await expect.poll(() => lineCount(page)).toBeGreaterThan(thousands)
  const all = await lineCount(page)
  const rowsThere = () => page.getByRole('row').count()
  expect(await rowsThere()).toBeLessThan(80)
  await page.getByLabel('Sort').selectOption('newest')
  await expect.poll(() => page.getByRole('row').nth(1).innerText()).toContain(`Load ${thousands / 100 - 1}`)

  await page.getByLabel('Tag').selectOption('part')
  await page.getByLabel('Show').selectOption('flat')
  await expect.poll(() => lineCount(page)).toBe(thousands)
  await page.getByText(`${(all - thousands).toLocaleString('en')} not shown`).waitFor()

  await page.getByRole('searchbox').fill('oak keel')
  await expect.poll(() => lineCount(page)).toBe(thousands / 100)
  expect(await rowsThere()).toBeLessThan(80)
  await page.getByRole('searchbox').fill('part nowhere')
  await page.getByText('No task matches these filters.').waitFor()
  await page.getByRole('button', { name: 'clear filters' }).click()

  await page.getByLabel('Show').selectOption('tree')
  await expect.poll(() => lineCount(page)).toBe(all)
  await page.getByRole('button', { name: /failed/ }).click()
  await expect.poll(() => lineCount(page)).toBeLessThan(thousands)
  await page.getByRole('button', { name: /failed/ }).click()
  await expect.poll(() => lineCount(page)).toBe(all)

  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('End')
  await line(page, 'First of all').waitFor()
  expect(await rowsThere()).toBeLessThan(80)

  // A line that is added above does not move the visible ones.
  const scrolled = () => page.evaluate<number>("document.querySelector('.grid-body').scrollTop")
  const before = await scrolled()
  await server.create({ name: 'Late comer', autoStart: false })
  await expect.poll(scrolled).toBe(before + 28)
})

it('the page shows fewer tasks in the past', async () => {
  const { events } = await server.call<{ events: Array<{ seq: number }> }>('event:list', { limit: 3 })
  const page = await signedIn()
  await expect.poll(() => lineCount(page)).toBeGreaterThan(thousands)
  const all = await lineCount(page)
  await page.getByRole('button', { name: 'History' }).click()
  const slider = page.getByRole('slider', { name: 'As of' })
  await slider.fill(String(events[0]?.seq))
  await expect.poll(() => lineCount(page)).toBe(1)
  await line(page, 'First of all').waitFor()
  await page.getByRole('button', { name: 'Back to now' }).click()
  await expect.poll(() => lineCount(page)).toBe(all)
})
