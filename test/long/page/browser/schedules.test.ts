// The schedules on the page in a real Chromium: what a person sees of them, and does with them.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, readersToken, token, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function opened({ width = 1280, signedInWith = token } = {}): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url, '#/', signedInWith)
  onTestFinished(() => expect(complaints).toEqual([]))
  const allowed = page.waitForResponse(/\/abilities$/)
  await page.getByRole('link', { name: 'Schedules' }).click()
  await allowed
  await page.getByRole('heading', { name: 'Schedules' }).waitFor()
  return page
}

const lineOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })

async function act(page: Page, verb: string, name: string): Promise<void> {
  await page.getByRole('button', { name: `${verb}: ${name}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: verb, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

const put = (name: string, times: object, task: object = { executor: 'count' }) =>
  server.call('schedules:put', { name, task, ...times })

it('the page of schedules says how to add the first one, and shows it once it is added', async () => {
  const page = await opened()
  await page.getByText('errand schedule add').waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
  await put('nightly', { cron: '0 3 * * *', timezone: 'Europe/Berlin' })
  const line = lineOf(page, 'nightly')
  await line.getByText('0 3 * * *').waitFor()
  expect(await line.innerText()).toMatch(/Europe\/Berlin.*(\d{4}-\d\d-\d\d \d\d:00:00\s+){3}.*none yet/s)
})

it('a person makes a task of a schedule now, and opens it from the page', async () => {
  await put('now', { every: '2h' })
  const page = await opened()
  await lineOf(page, 'now').getByText('every 2h').waitFor()
  await act(page, 'Run now', 'now')
  const task = lineOf(page, 'now').getByRole('link', { name: 'the latest task, completed' })
  await task.waitFor()
  expect(await lineOf(page, 'now').innerText()).toMatch(/created/)
  await task.click()
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
})

it('a person pauses a schedule on the page and resumes it, and sees when another client does', async () => {
  await put('halted', { every: '2h' })
  const page = await opened()
  const isPaused = async () => {
    const { schedules } = await server.call<{ schedules: Array<{ name: string; paused: boolean }> }>(
      'schedules:list',
      {},
    )
    return schedules.find(({ name }) => name === 'halted')?.paused
  }
  await act(page, 'Pause', 'halted')
  await lineOf(page, 'halted').getByText('paused', { exact: true }).waitFor()
  expect(await isPaused()).toBe(true)
  await act(page, 'Resume', 'halted')
  await page.getByRole('button', { name: 'Pause: halted' }).waitFor()
  expect(await isPaused()).toBe(false)
  await server.call('schedules:pause', { name: 'halted' })
  await page.getByRole('button', { name: 'Resume: halted' }).waitFor()
})

it('a person is informed before the open task of a schedule is canceled for a new one', async () => {
  await put('replacing', { every: '2h', overlap: 'replace' }, { executor: 'rests' })
  const { taskId } = await server.call<{ taskId: string }>('schedules:trigger', { name: 'replacing' })
  const page = await opened()
  await page.getByRole('button', { name: 'Run now: replacing' }).click()
  await page.getByText('Its latest task is open, and is canceled for the new one.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click()
  await expect.poll(() => server.statusOf(taskId)).toBe('canceled')
})

it('a reader sees the schedules on the page, and no actions', async () => {
  await put('seen', { every: '2h' })
  const page = await opened({ signedInWith: readersToken })
  await lineOf(page, 'seen').getByText('every 2h').waitFor()
  // What the page may do is known well before it reads the schedules again.
  await page.waitForResponse(/\/schedules\?/)
  expect(await lineOf(page, 'seen').getByRole('button').count()).toBe(0)
})

it.each([1280, 390, 320])('axe finds no fault in the page of schedules, which fits %i pixels', async (width) => {
  await put('looked-at', { cron: '*/15 9-17 * * 1-5', timezone: 'America/Argentina/ComodRivadavia' })
  await put('odd', { every: '2h' })
  await server.call('schedules:trigger', { name: 'odd' })
  await server.call('schedules:pause', { name: 'odd' })
  const page = await opened({ width })
  await page.getByRole('button', { name: 'Resume: odd' }).waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  await page.getByRole('button', { name: 'Resume: odd' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
})
