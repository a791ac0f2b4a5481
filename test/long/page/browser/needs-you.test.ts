// What a person does from the list of tasks in a real Chromium: answers questions, looks after failures, changes several tasks at once, and
// fills in the form of an executor.
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../../src/index.ts'
import {
  launchChromium,
  openPage,
  ServedLedger,
  temporaryFolder,
  violationsInBothThemes,
} from '../../../page/browser/world.ts'

const folder = temporaryFolder()
const ledger = join(folder.path, 'page.db')
const server = new ServedLedger(ledger)
let browser: Browser

beforeAll(async () => {
  // Tasks of an executor that the server does not have.
  await using elsewhere = await createEngine({ ledger, executors: { deploy: () => null }, work: false })
  await elsewhere.create([
    { name: 'Deploy the site', executor: 'deploy' },
    { name: 'Deploy the docs', executor: 'deploy' },
  ])
  await elsewhere.close()
  ;[browser] = await Promise.all([launchChromium(), server.start()])
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

async function signedIn(hash?: string): Promise<Page> {
  const { page, complaints } = await openPage(await newContext(), server.url, hash)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

const line = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const inState = (page: Page, name: string, status: string) => line(page, name).locator(`.state-${status}`)
const needs = (page: Page) => page.getByRole('region', { name: 'Needs you' })
const need = (page: Page, name: string) => needs(page).getByRole('listitem').filter({ hasText: name })
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected tasks' })
const inDialog = (page: Page, name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name })

async function filtered(page: Page, text: string, count: number): Promise<void> {
  await page.getByRole('searchbox').fill(text)
  await expect.poll(() => page.getByRole('row').count()).toBe(count + 1)
}

it('the page shows the question of a task above the list, and a person answers it there with a button', async () => {
  const taskId = await server.create({ name: 'Paint the fence', executor: 'asks' })
  const page = await signedIn()
  await need(page, 'Paint the fence').getByText('Which colour shall it be?').waitFor()
  await line(page, 'Paint the fence').getByText('Which colour shall it be?').waitFor()
  await need(page, 'Paint the fence')
    .getByRole('button', { name: /^green/ })
    .click()
  await inState(page, 'Paint the fence', 'completed').waitFor()
  expect((await server.call<{ task: { result: unknown } }>('task:get', { taskId })).task.result).toEqual({
    colour: 'green',
  })
  await expect.poll(() => need(page, 'Paint the fence').count()).toBe(0)
})

it('a person answers yes or no with a button, and a short text in an input, which refuses an empty one', async () => {
  const yes = await server.create({ name: 'Bind the atlas', executor: 'confirms' })
  const title = await server.create({ name: 'Name the atlas', executor: 'named' })
  const page = await signedIn()
  await need(page, 'Bind the atlas').getByRole('button', { name: /^Yes/ }).click()
  // It moves the next one, and with it the button below the pointer.
  await expect.poll(() => need(page, 'Bind the atlas').count()).toBe(0)
  await need(page, 'Name the atlas').getByRole('button', { name: 'Send' }).click()
  await need(page, 'Name the atlas').getByRole('alert').getByText('Enter an answer.').waitFor()
  await need(page, 'Name the atlas').getByRole('textbox').fill('All the seas')
  await page.keyboard.press('Enter')
  await expect.poll(() => need(page, 'atlas').count()).toBe(0)
  await expect.poll(() => server.statusOf(yes)).toBe('completed')
  await expect.poll(() => server.statusOf(title)).toBe('completed')
})

it('a question in Markdown is rendered above the list, where a long one scrolls and takes the focus', async () => {
  const items = Array.from({ length: 30 }, (_, n) => `- item ${n}`).join('\n')
  const short = await server.create({ name: 'Judge one', executor: 'inquires', input: 'Is **this** `fine`?' })
  const long = await server.create({ name: 'Judge many', executor: 'inquires', input: `# Review\n${items}` })
  const page = await signedIn()
  await need(page, 'Judge one').locator('strong').getByText('this').waitFor()
  await line(page, 'Judge one').getByText('Is this fine?').waitFor()
  expect(await need(page, 'Judge one').getByRole('group', { name: 'Question' }).count()).toBe(0)
  const box = need(page, 'Judge many').last().getByRole('group', { name: 'Question' })
  await expect.poll(() => box.getByRole('listitem').count()).toBe(30)
  expect((await box.boundingBox())?.height).toBeLessThan(200)
  await box.focus()
  await page.keyboard.press('End')
  await expect.poll(() => box.evaluate((node) => node.scrollTop)).toBeGreaterThan(0)
  await need(page, 'Judge one')
    .getByRole('button', { name: /^Answer: Is/ })
    .click()
  await page.getByRole('dialog').getByLabel('verdict').waitFor()
  for (const taskId of [short, long]) await server.call('task:cancel', { taskId })
})

it('the bar of selected tasks offers only what some of them accept', async () => {
  await server.create({ name: 'Bowl to fire', executor: 'fails' })
  await server.create({ name: 'Bowl to count', executor: 'count', input: { to: 1, ms: 1 } })
  const page = await signedIn()
  await filtered(page, 'bowl to', 2)
  await line(page, 'Bowl to fire').getByText('TASK_FAILED').waitFor()
  await inState(page, 'Bowl to count', 'completed').waitFor()
  await page.getByRole('checkbox', { name: 'Select Bowl to count' }).click()
  await expect.poll(() => bar(page).getByRole('button').allInnerTexts()).toEqual(['Delete', 'clear selection'])
  await page.getByRole('checkbox', { name: 'Select Bowl to fire' }).click()
  await expect
    .poll(() => bar(page).getByRole('button').allInnerTexts())
    .toEqual(['Retry 1', 'Delete', 'clear selection'])
})

it('when an answered question goes, a second click does not hit the button of the one that takes its place', async () => {
  for (const name of ['Bind one', 'Bind two']) await server.create({ name, executor: 'confirms' })
  const page = await signedIn()
  await need(page, 'Bind two').getByRole('button', { name: /^Yes/ }).waitFor()
  const button = need(page, 'Bind one').getByRole('button', { name: /^Yes/ })
  const { x, y } = (await button.boundingBox()) as { x: number; y: number }
  const hit = page.evaluate<string>(`new Promise((resolve) => {
    new MutationObserver((changes) => {
      if (!changes.some(({ removedNodes }) => removedNodes.length > 0)) return
      resolve(document.elementFromPoint(${x + 5}, ${y + 5})?.tagName)
    }).observe(document.querySelector('.needs ul'), { childList: true })
  })`)
  await button.click()
  expect(await hit).not.toBe('BUTTON')
  await need(page, 'Bind two').getByRole('button', { name: /^Yes/ }).click()
  await expect.poll(() => need(page, 'Bind').count()).toBe(0)
})

it('the key A opens the form for the question of the active line, and else for the one that has waited the longest', async () => {
  const first = await server.create({ name: 'Ask first', executor: 'asks' })
  const second = await server.create({ name: 'Ask second', executor: 'asks' })
  const page = await signedIn()
  await need(page, 'Ask second').waitFor()
  await page.keyboard.press('a')
  await page.getByRole('dialog').getByText('Ask first').waitFor()
  await page.keyboard.press('Escape')
  await line(page, 'Ask second').focus()
  await page.keyboard.press('a')
  await page.getByRole('dialog').getByText('Ask second').waitFor()
  await page
    .getByRole('dialog')
    .getByLabel(/your answer/i)
    .selectOption('red')
  await inDialog(page, 'Send answer').click()
  await inState(page, 'Ask second', 'completed').waitFor()
  await page.goto(`${server.url}/#/task/${first}`)
  await page.getByRole('heading', { name: 'Ask first' }).waitFor()
  await page.keyboard.press('a')
  await page.getByRole('dialog').getByText('Ask first').waitFor()
  await server.call('task:cancel', { taskId: first })
  expect(await server.statusOf(second)).toBe('completed')
})

it('a dialog stays open that a key opens right after Escape has closed another one', async () => {
  const taskId = await server.create({ name: 'Ask again', executor: 'asks' })
  const page = await signedIn()
  await need(page, 'Ask again').waitFor()
  await page.keyboard.press('a')
  await page.getByRole('dialog').waitFor()
  // As Escape and A do when both come before the event `close` of the first dialog, which is a task of its own.
  await page.evaluate(`(async () => {
    const first = document.querySelector('dialog')
    const closed = new Promise((resolve) => first.addEventListener('close', () => setTimeout(resolve)))
    first.requestClose()
    for (let turn = 0; turn < 10; turn++) await null
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))
    await closed
  })()`)
  await page
    .getByRole('dialog')
    .getByLabel(/your answer/i)
    .waitFor()
  await server.call('task:cancel', { taskId })
})

it('the page lists a failure with its error until it is retried or dismissed, and counts it at its family', async () => {
  await server.create({ name: 'Pottery', tasks: { bowl: { name: 'Fire a bowl', executor: 'failsOnce' } } })
  await server.create({ name: 'Fire a vase', executor: 'fails' })
  const page = await signedIn()
  await need(page, 'Fire a bowl').getByText('The kiln is cold.').waitFor()
  await line(page, 'Pottery').getByText('1 failed below').waitFor()
  await need(page, 'Fire a vase').getByRole('button', { name: 'Dismiss Fire a vase' }).click()
  await expect.poll(() => need(page, 'Fire a vase').count()).toBe(0)
  await need(page, 'Fire a bowl').getByRole('button', { name: 'Retry Fire a bowl' }).click()
  await inDialog(page, 'Retry').click()
  await inState(page, 'Fire a bowl', 'completed').waitFor()
  await expect.poll(() => line(page, 'Pottery').getByText('1 failed below').count()).toBe(0)
  await page.reload()
  await line(page, 'Fire a vase').waitFor()
  expect(await need(page, 'Fire a vase').count()).toBe(0)
})

it('the page names the executor that queued tasks lack', async () => {
  const page = await signedIn()
  await need(page, 'deploy').getByText('2 queued tasks need an executor that this engine cannot run').waitFor()
  await page.getByText('the executor deploy is missing').waitFor()
  await need(page, 'deploy').getByRole('button', { name: 'Show the tasks of the executor deploy' }).click()
  await expect.poll(() => page.getByRole('row').count()).toBe(3)
  await line(page, 'Deploy the docs').getByText('this engine cannot run deploy').waitFor()
})

it('a person selects tasks with the keyboard, and pauses, resumes and cancels them together', async () => {
  const ids: string[] = []
  for (const n of [1, 2, 3]) ids.push(await server.create({ name: `Guard ${n}`, executor: 'rests' }))
  const states = async () => {
    const found: string[] = []
    for (const id of ids) found.push(await server.statusOf(id))
    return found
  }
  const page = await signedIn()
  await filtered(page, 'guard', 3)
  await expect.poll(() => inState(page, 'Guard', 'working').count()).toBe(3)
  await line(page, 'Guard').first().focus()
  await page.keyboard.press('x')
  await bar(page).getByText('1 selected').waitFor()
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await bar(page).getByText('3 selected').waitFor()
  await page.keyboard.press('p')
  await inDialog(page, 'Pause 3 tasks').click()
  await expect.poll(states).toEqual(['paused', 'paused', 'paused'])
  await expect.poll(() => bar(page).count()).toBe(0)
  await line(page, 'Guard').first().focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('u')
  await inDialog(page, 'Resume 3 tasks').click()
  await expect.poll(states).toEqual(['working', 'working', 'working'])
  await line(page, 'Guard').first().focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Escape')
  await expect.poll(() => bar(page).count()).toBe(0)
  await page.keyboard.press('Control+a')
  await page.keyboard.press('c')
  await inDialog(page, 'Cancel 3 tasks').click()
  await expect.poll(states).toEqual(['canceled', 'canceled', 'canceled'])
})

it('a person selects tasks with the mouse; an action leaves out those that do not accept it, and says so', async () => {
  await server.create({ name: 'Mixed rest', executor: 'rests' })
  await server.create({ name: 'Mixed count', executor: 'count', input: { to: 1, ms: 1 } })
  await server.create({ name: 'Mixed failure', executor: 'fails' })
  const page = await signedIn()
  await filtered(page, 'mixed', 3)
  await inState(page, 'Mixed rest', 'working').waitFor()
  await inState(page, 'Mixed count', 'completed').waitFor()
  await line(page, 'Mixed failure').getByText('TASK_FAILED').waitFor()
  await page.getByRole('checkbox', { name: 'Select Mixed failure' }).click()
  await page.getByRole('checkbox', { name: 'Select Mixed count' }).click({ modifiers: ['Shift'] })
  await bar(page).getByText('3 selected').waitFor()
  await bar(page).getByRole('button', { name: 'Cancel 1' }).click()
  await page.getByRole('dialog').getByText('Mixed count is completed').waitFor()
  await inDialog(page, 'Cancel the task').click()
  await inState(page, 'Mixed rest', 'canceled').waitFor()
})

it('the page shows which tasks refused an action, and why', async () => {
  const taskId = await server.create({ name: 'Slips away', executor: 'rests' })
  const page = await signedIn()
  await filtered(page, 'slips', 1)
  await inState(page, 'Slips away', 'working').waitFor()
  await line(page, 'Slips away').focus()
  await page.keyboard.press('p')
  await page.getByRole('dialog').getByText('Slips away').waitFor()
  await server.call('task:cancel', { taskId })
  await inDialog(page, 'Pause the task').click()
  await page
    .getByRole('dialog')
    .getByRole('alert')
    .getByText(/Slips away: Cannot pause #\d+: it is canceled/)
    .waitFor()
})

it('a person fills in the form of an executor to create a task, and a wrong value is shown at its field', async () => {
  const page = await signedIn('#/new')
  await page.getByLabel('Executor').selectOption('greet')
  const input = page.getByRole('group', { name: 'Input' })
  await input.getByLabel('name').fill('Ada')
  expect(await input.getByLabel('times').inputValue()).toBe('2')
  await input.getByLabel('times').fill('0')
  await page.getByRole('button', { name: /^create/i }).click()
  await input.getByText('At least 1.').waitFor()
  await input.getByLabel('times').fill('1')
  await input.getByLabel('manner').selectOption('soft')
  await page.getByRole('button', { name: /^create/i }).click()
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  await page.getByText('Hello Ada').first().waitFor()
})

it.each([1280, 390])('axe finds no fault in what a person does from the list, %i pixels wide', async (width) => {
  const input = `# Review\n${'- one more item\n'.repeat(30)}`
  const review = await server.create({ name: 'Seen review', executor: 'inquires', input })
  for (const executor of ['asks', 'confirms', 'named', 'fails', 'fails']) {
    await server.create({ name: `Seen ${executor}`, tasks: { part: { name: `Part ${executor}`, executor } } })
  }
  const { page } = await openPage(await newContext({ viewport: { width, height: 800 }, bypassCSP: true }), server.url)
  const found: Array<[string, string[]]> = []
  const judge = async (view: string) => void found.push([view, await violationsInBothThemes(page)])
  await need(page, 'deploy').waitFor()
  await needs(page)
    .getByRole('button', { name: /^show all/ })
    .click()
  await need(page, 'Part named').getByRole('textbox').first().waitFor()
  await need(page, 'one more item').first().getByRole('group', { name: 'Question' }).waitFor()
  await judge('needs you')
  await server.call('task:cancel', { taskId: review })
  await page.getByRole('searchbox').fill('part fails')
  await line(page, 'Part fails').first().focus()
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+ArrowDown')
  await bar(page).waitFor()
  await judge('selection')
  await page.keyboard.press('c')
  await page.getByRole('dialog').waitFor()
  await judge('action on several tasks')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('answer; in the list').waitFor()
  await judge('help')
  await page.goto(`${server.url}/#/new`)
  await page.reload()
  await page.getByLabel('Executor').selectOption('greet')
  await page.getByRole('group', { name: 'Input' }).waitFor()
  await page.getByText('More', { exact: true }).click()
  await judge('form of an executor')
  expect(found.filter(([, faults]) => faults.length > 0)).toEqual([])
})
