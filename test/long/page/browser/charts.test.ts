// The charts of the page in a real Chromium.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function opened(width = 1280): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url)
  onTestFinished(() => expect(complaints).toEqual([]))
  await page.getByRole('link', { name: 'Charts' }).click()
  await page.getByRole('heading', { name: 'Charts' }).waitFor()
  return page
}

async function ended(executor: string, status: string): Promise<void> {
  const taskId = await server.create({ executor, input: { to: 1, ms: 1 } })
  await expect.poll(() => server.statusOf(taskId)).toBe(status)
}

it('the page draws ended tasks, failures and waiting times of the last hour and day, with the figures as a table', async () => {
  await ended('count', 'completed')
  await ended('count', 'completed')
  await ended('fails', 'failed')
  const page = await opened()
  await page.getByRole('img', { name: /^Ended tasks: 3 in all/ }).waitFor()
  await page.getByRole('img', { name: /^Failures: 1 in all, at most 1/ }).waitFor()
  await page.getByRole('img', { name: /^Waiting time before a start: .* on average/ }).waitFor()
  await page.getByText('The figures as a table').click()
  await expect.poll(() => page.getByRole('table').getByRole('row').count()).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'the last day' }).click()
  await page.getByRole('img', { name: /^Ended tasks: 3 in all/ }).waitFor()
})

it.each([1280, 390, 320])('axe finds no fault in the charts, which fit %i pixels', async (width) => {
  await ended('count', 'completed')
  const page = await opened(width)
  await page.getByText('The figures as a table').click()
  await page.getByRole('table').waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
})
