// The page in a real Chromium, against a server in its own process: what a person does and sees, and that no event is missed when the
// server is killed.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, receivedBy, token, violations, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function signedIn(hash?: string): Promise<Page> {
  const { page, complaints } = await openPage(await newContext(), server.url, hash)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

const line = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const inState = (page: Page, name: string, status: string) => line(page, name).locator(`.state-${status}`)
const action = (page: Page, name: string) =>
  page.getByRole('toolbar', { name: 'Actions' }).getByRole('button', { name, exact: true })
const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

it('the page answers 401 with one field to sign in, and refuses a wrong token', async () => {
  const page = await (await newContext()).newPage()
  const response = await page.goto(server.url)
  expect(response?.status()).toBe(401)
  await page.getByLabel(/token/i).fill('wrong-token-wrong-token-wrong-token-0')
  await page.getByRole('button').click()
  await page.getByText('The token is invalid.').waitFor()
  await page.getByLabel(/token/i).fill(token)
  await page.getByRole('button').click()
  await page.getByRole('treegrid', { name: 'Tasks' }).waitFor()
})

it('a person creates a task on the page, and follows it to its end', async () => {
  const page = await signedIn()
  await page
    .getByRole('link', { name: /create/i })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Create a task' }).waitFor()
  await page.getByLabel('Name').fill('Count the tides')
  await page.getByLabel(/executor/i).selectOption('count')
  await page.getByLabel(/^Input/).fill('{"to": 3, "ms": 300}')
  await page.getByRole('button', { name: /^create/i }).click()
  await page.getByRole('heading', { name: 'Count the tides' }).waitFor()
  await page.getByRole('img', { name: /State chart: the task is working/ }).waitFor()
  await page.getByRole('img', { name: /State chart: the task is completed after 2 transitions/ }).waitFor()
  await page.getByText('Counting to 3.').first().waitFor()
  await page.getByRole('link', { name: 'errand' }).click()
  await inState(page, 'Count the tides', 'completed').waitFor()
})

it('the page reports invalid input of a new task, and keeps the input', async () => {
  const page = await signedIn('#/new')
  await page.getByLabel('Name').fill('Half a thought')
  await page.getByLabel(/executor/i).selectOption('count')
  const input = page.getByLabel(/^Input/)
  await input.fill('{"to": ')
  // A click is lost when what is above the button grows between the press and the release.
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: /^create/i }).click()
      return input.getAttribute('aria-invalid')
    })
    .toBe('true')
  expect(await input.inputValue()).toBe('{"to": ')
  expect(await page.getByLabel('Name').inputValue()).toBe('Half a thought')
})

it('a person answers a question on the page', async () => {
  const taskId = await server.create({ name: 'Paint the fence', executor: 'asks' })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('button', { name: 'green: answer to Which colour shall it be?' }).waitFor()
  await page.keyboard.press('a')
  await page
    .getByRole('dialog')
    .getByLabel(/your answer/i)
    .selectOption('green')
  await inDialog(page, 'Send answer').click()
  await page.getByText('It will be green.').first().waitFor()
  expect(await server.statusOf(taskId)).toBe('completed')
})

it('a person cancels a tree of tasks on the page, whose button names their number', async () => {
  const taskId = await server.create({
    name: 'Great works',
    tasks: {
      first: { executor: 'rests' },
      second: { tasks: { deep: { executor: 'rests' }, deeper: { executor: 'rests', after: 'deep' } } },
    },
  })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('img', { name: /State chart: the task is working/ }).waitFor()
  await action(page, 'Cancel').click()
  await inDialog(page, 'Cancel 5 tasks').click()
  await page.getByRole('img', { name: /State chart: the task is canceled/ }).waitFor()
  const { tasks } = await server.call<{ tasks: Array<{ name: string; status: string }> }>('task:list', {
    limit: 5000,
  })
  const works = tasks.filter(({ name }) => ['Great works', 'first', 'second', 'deep', 'deeper'].includes(name))
  expect(works.map(({ status }) => status)).toEqual(Array(5).fill('canceled'))
})

it('a person pauses, resumes and messages a task on the page, and changes its priority', async () => {
  const taskId = await server.create({ name: 'Long watch', executor: 'rests' })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('img', { name: /the task is working/ }).waitFor()
  await action(page, 'Pause').click()
  await inDialog(page, 'Pause').click()
  await page.getByRole('img', { name: /the task is paused/ }).waitFor()
  await action(page, 'Send message').or(action(page, 'Send')).first().click()
  await page.getByRole('dialog').getByRole('textbox').fill('Mind the rocks.')
  await inDialog(page, 'Send').click()
  await page.getByText('Mind the rocks.').first().waitFor()
  await action(page, 'Change priority').or(action(page, 'Priority')).first().click()
  await page.getByRole('dialog').getByRole('spinbutton').fill('7')
  await inDialog(page, 'Change').click()
  await expect
    .poll(async () => (await server.call<{ task: { priority: number } }>('task:get', { taskId })).task.priority)
    .toBe(7)
  await action(page, 'Resume').click()
  await inDialog(page, 'Resume').click()
  await page.getByRole('img', { name: /the task is working/ }).waitFor()
  await server.call('task:cancel', { taskId, reason: 'enough' })
  await page.getByRole('img', { name: /the task is canceled/ }).waitFor()
})

it('a person looks at the past on the page, and returns to now', async () => {
  const taskId = await server.create({ name: 'Old story', executor: 'count', input: { to: 1, ms: 1 } })
  const page = await signedIn(`#/task/${taskId}`)
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  await page
    .getByRole('button', { name: /history|back in time/i })
    .first()
    .click()
  const slider = page.getByRole('slider', { name: 'As of' })
  await slider.waitFor()
  await slider.focus()
  const { events } = await server.call<{ events: Array<{ seq: number }> }>('event:list', { taskId })
  await slider.fill(String(events[0]?.seq))
  await page.getByRole('img', { name: /the task is (submitted|queued)/ }).waitFor()
  await page.getByRole('button', { name: /back to now/i }).click()
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
})

it('the page can be used with the keyboard only', async () => {
  await server.create({ name: 'Keyed', tasks: { inner: { executor: 'count', input: { to: 1, ms: 1 } } } })
  const page = await signedIn()
  await page.keyboard.press('/')
  await page.keyboard.type('Keyed')
  await line(page, 'Keyed').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox').fill('Keyed')
  await line(page, 'Keyed').first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Keyed' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
})

it('the page reconnects when the server is killed and started again, and receives every event exactly once', async () => {
  const page = await signedIn()
  const count = () => server.call<{ seq: number }>('event:list', { limit: 1 })
  const from = (await count()).seq
  await server.create({ name: 'Before the fall', executor: 'count', input: { to: 400, ms: 5 } })
  await inState(page, 'Before the fall', 'working').waitFor()
  await server.kill()
  await page.getByText(/reconnecting/i).waitFor()
  await server.start()
  await page.getByText(/reconnecting/i).waitFor({ state: 'detached' })
  const after = await server.create({ name: 'After the fall', executor: 'count', input: { to: 2, ms: 1 } })
  await inState(page, 'After the fall', 'completed').waitFor()
  await inState(page, 'Before the fall', 'completed').waitFor()
  expect(await server.statusOf(after)).toBe('completed')
  const { seq: last } = await count()
  await expect.poll(async () => (await receivedBy(page)).at(-1)).toBe(last)
  const received = (await receivedBy(page)).filter((seq) => seq > from)
  expect(received).toEqual(Array.from({ length: last - from }, (_, n) => from + 1 + n))
})

it.each([1280, 390])('axe finds no fault in the page, %i pixels wide', async (width) => {
  const taskId = await server.create({ name: 'Seen by all', executor: 'asks', tags: ['a'] })
  const { page } = await openPage(await newContext({ viewport: { width, height: 800 }, bypassCSP: true }), server.url)
  await line(page, 'Seen by all').first().waitFor()
  const found: Array<[string, string[]]> = [['overview', await violationsInBothThemes(page)]]
  await page.goto(`${server.url}/#/task/${taskId}`)
  await page.getByRole('button', { name: 'green: answer to Which colour shall it be?' }).waitFor()
  found.push(['task', await violationsInBothThemes(page)])
  await page.keyboard.press('a')
  await page.getByRole('dialog').waitFor()
  found.push(['dialog', await violationsInBothThemes(page)])
  await page.keyboard.press('Escape')
  for (const [button, wrong] of [
    ['Change priority', 'Enter a whole number.'],
    ['Send message', 'Say something.'],
  ] as const) {
    await page.getByRole('button', { name: button }).click()
    const dialog = page.getByRole('dialog')
    found.push([button, await violationsInBothThemes(page)])
    await dialog.getByRole('spinbutton').or(dialog.getByRole('textbox')).fill('')
    await dialog.getByRole('button', { name: /^(Change|Send)$/ }).click()
    await dialog.getByText(wrong).waitFor()
    found.push([`${button}, refused`, await violationsInBothThemes(page)])
    await page.keyboard.press('Escape')
  }
  await page.goto(`${server.url}/#/task/none`)
  await page.getByRole('link', { name: 'All tasks' }).waitFor()
  found.push(['missing task', await violationsInBothThemes(page)])
  await page.goto(`${server.url}/#/new`)
  await page.getByRole('heading', { name: 'Create a task' }).waitFor()
  found.push(['create', await violationsInBothThemes(page)])
  expect(found.filter(([, faults]) => faults.length > 0)).toEqual([])
})

it('the page fits a screen of 320 pixels while it is disconnected', async () => {
  const context = await newContext({ viewport: { width: 320, height: 800 } })
  await context.route(/\/events\b/, (route) => route.abort())
  const { page } = await openPage(context, server.url)
  await page.getByText('○ disconnected').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
})

it('axe finds a fault that is planted in the page', async () => {
  const context = await newContext({ bypassCSP: true })
  const { page } = await openPage(context, server.url)
  await page.evaluate("document.body.append(document.createElement('button'))")
  expect(await violations(page)).toEqual([expect.stringContaining('button-name')])
})

it('axe finds a contrast that is too low in the dark theme only', async () => {
  const { page } = await openPage(await newContext({ bypassCSP: true }), server.url)
  await page.evaluate(`document.querySelector('main').insertAdjacentHTML('afterbegin',
    '<p style="color: light-dark(#000, #333); background: light-dark(#fff, #111)">planted</p>')`)
  expect(await violationsInBothThemes(page)).toEqual([
    expect.stringMatching(/^in the dark theme, color-contrast: .*planted/),
  ])
})
