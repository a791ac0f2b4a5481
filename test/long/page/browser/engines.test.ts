// The engines on the page in a real Chromium.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function opened(width = 1280): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url)
  onTestFinished(() => expect(complaints).toEqual([]))
  await page.getByRole('link', { name: 'Engines' }).click()
  await page.getByRole('heading', { name: 'Engines' }).waitFor()
  return page
}

it('the page shows the engine that serves it with its runs, and an engine that was killed', async () => {
  const taskId = await server.create({ name: 'Keep watch', executor: 'rests' })
  const page = await opened()
  const own = page.getByRole('row').filter({ hasText: 'serves this page' })
  await own.getByText('working').waitFor()
  await own.getByText('current').waitFor()
  await page.getByText(/1 of 8 slots used; 1 run in a slot, 0 parked/).waitFor()
  await page.getByRole('link', { name: 'Keep watch' }).waitFor()
  await server.kill()
  await server.start()
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'ended' }).count()).toBeGreaterThan(0)
  await own.getByText('working').waitFor()
  await server.call('task:cancel', { taskId })
  await page.getByText(/0 of 8 slots used/).waitFor()
})

it.each([1280, 390, 320])('axe finds no fault in the page of engines, which fits %i pixels', async (width) => {
  await server.create({ name: 'Stand guard', executor: 'rests' })
  const page = await opened(width)
  await page.getByRole('link', { name: 'Stand guard' }).first().waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
})
