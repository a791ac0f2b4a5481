// Forks on the page in a real Chromium: a person forks a task, and goes from one to the other.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function opened(taskId: string, width = 1280): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url, `#/task/${taskId}`)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

async function counted(name: string): Promise<string> {
  const taskId = await server.create({ name, executor: 'count', input: { to: 2, ms: 1 } })
  await expect.poll(() => server.statusOf(taskId)).toBe('completed')
  return taskId
}

const numberOf = async (taskId: string) =>
  (await server.call<{ task: { seq: number } }>('task:get', { taskId })).task.seq
const detail = (page: Page, term: string) =>
  page.locator('dl.facts > div').filter({ has: page.getByText(term, { exact: true }) })

it('a person forks a task at a call with another result, and the page shows the fork and leads back', async () => {
  const original = await counted('Count the sheep')
  const page = await opened(original)
  await page.getByRole('button', { name: 'Fork' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('From').selectOption('call 2: count (completed)')
  await dialog.getByLabel('Result of that call').fill('nine')
  await dialog.getByRole('button', { name: 'Fork' }).click()
  await dialog.getByText(/not valid JSON/).waitFor()
  await dialog.getByLabel('Result of that call').fill('9')
  await dialog.getByRole('button', { name: 'Fork' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  const fork = decodeURIComponent((await page.evaluate<string>('location.hash')).replace('#/task/', ''))
  expect(fork).not.toBe(original)
  const { calls } = await server.call<{ calls: Array<{ result: unknown }> }>('task:calls', { taskId: fork })
  expect(calls.map(({ result }) => result)).toEqual([1, 9])
  await detail(page, 'Forked from')
    .getByRole('link', { name: `#${await numberOf(original)}` })
    .click()
  await detail(page, 'Forks')
    .getByRole('link', { name: `#${await numberOf(fork)}` })
    .click()
  await detail(page, 'Forked from').waitFor()
})

it('the page of a task shows a fork that another client makes, and a group offers none', async () => {
  const original = await counted('Count the goats')
  const page = await opened(original)
  await page.getByRole('button', { name: 'Fork' }).waitFor()
  expect(await detail(page, 'Forks').count()).toBe(0)
  await server.call('task:fork', { taskId: original })
  await detail(page, 'Forks').waitFor()
  const group = await server.create({ name: 'Herds', tasks: { goats: { executor: 'count', input: { to: 1, ms: 1 } } } })
  await page.goto(`${server.url}/#/task/${group}`)
  await page.getByText('which is final').waitFor()
  expect(await page.getByRole('button', { name: 'Fork' }).count()).toBe(0)
})

it('a person forks the task of an agent with other instructions', async () => {
  const original = await server.create({ name: 'Look around', goal: 'Look at it' })
  await expect.poll(() => server.statusOf(original)).toBe('completed')
  const page = await opened(original)
  await page.getByRole('button', { name: 'Fork' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('the last step of its model').waitFor({ state: 'attached' })
  await dialog.getByLabel('Instructions').fill('Look twice.')
  await dialog.getByRole('button', { name: 'Fork' }).click()
  await detail(page, 'Forked from').waitFor()
  await page.getByText('Look twice.').first().waitFor()
})

it.each([1280, 390, 320])('axe finds no fault in the form of a fork, which fits %i pixels', async (width) => {
  const page = await opened(await counted('Count the hens'), width)
  await page.getByRole('button', { name: 'Fork' }).click()
  await page.getByRole('dialog').getByLabel('From').waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
})
