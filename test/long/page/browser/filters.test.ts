// The filters of the list in a real Chromium, and the changes of all tasks that they show.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function signedIn(hash = '#/', width = 1280): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url, hash)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

const line = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const search = (page: Page, text: string) => page.getByRole('searchbox').fill(text)
const bar = (page: Page) => page.getByRole('toolbar', { name: 'Tasks that match' })
const addressOf = (page: Page) => page.evaluate<string>('location.hash')

async function failed(name: string, executor: string, more: object = {}): Promise<string> {
  const taskId = await server.create({ name, executor, ...more })
  await expect.poll(() => server.statusOf(taskId)).toBe('failed')
  return taskId
}

it('a person filters by error code, metadata and time; the address has the filters, and one button clears them', async () => {
  await failed('Plate of Ada', 'fails', { metadata: { customer: 'ada', size: 7 } })
  await failed('Plate of Bob', 'fails', { metadata: { customer: 'bob', size: 7 } })
  await server.create({ name: 'Plate of Cy', executor: 'rests', metadata: { customer: 'cy' } })
  const page = await signedIn()
  await line(page, 'Plate of Cy').waitFor()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Error code').selectOption('TASK_FAILED')
  await expect.poll(() => line(page, 'Plate').count()).toBe(2)
  await page.getByLabel('Metadata').fill('customer=ada')
  await expect.poll(() => line(page, 'Plate').allInnerTexts()).toEqual([expect.stringContaining('Plate of Ada')])
  await page.getByLabel('Ended or created').selectOption('last hour')
  await expect.poll(() => addressOf(page)).toBe('#/?code=TASK_FAILED&metadata=customer%3Dada&since=1h')
  await page.reload()
  await expect.poll(() => line(page, 'Plate').allInnerTexts()).toEqual([expect.stringContaining('Plate of Ada')])
  await line(page, 'Plate of Ada').getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Plate of Ada' }).waitFor()
  await page.getByRole('link', { name: 'All tasks' }).click()
  await page.getByLabel('Metadata').fill('size=7')
  await expect.poll(() => line(page, 'Plate').count()).toBe(2)
  await server.create({ name: 'Plate of Dee', executor: 'fails', metadata: { size: 7 } })
  await expect.poll(() => line(page, 'Plate').count()).toBe(3)
  await page.getByLabel('Ended or created').selectOption('between…')
  await page.getByLabel('Before').fill('2020-01-01T00:00')
  await page.getByText('No task matches these filters.').waitFor()
  await page.getByRole('button', { name: 'clear filters' }).click()
  await line(page, 'Plate of Cy').waitFor()
  await expect.poll(() => addressOf(page)).toBe('#/')
})

it('system tasks are in the list only when a person chooses them', async () => {
  await server.create({ name: 'Broken pot', executor: 'fails', onFailure: { name: 'Sweep up', executor: 'rests' } })
  const page = await signedIn()
  await line(page, 'Broken pot').getByText('TASK_FAILED').waitFor()
  await page.getByRole('button', { name: 'More filters' }).click()
  expect(await line(page, 'Sweep up').count()).toBe(0)
  await page.getByLabel('System tasks').selectOption('only these')
  await line(page, 'Sweep up').waitFor()
  expect(await line(page, 'Broken pot').count()).toBe(0)
  await page.getByRole('button', { name: 'clear filters' }).click()
  await line(page, 'Broken pot').waitFor()
  expect(await line(page, 'Sweep up').count()).toBe(0)
})

it('a person retries all tasks that the filters show: the dialog names their number, and the refused ones are shown', async () => {
  const ids: string[] = []
  for (let n = 1; n <= 130; n++) ids.push(await server.create({ name: `Fire a tile ${n}`, executor: 'failsOnce' }))
  const page = await signedIn()
  await search(page, 'fire a tile')
  await bar(page).getByRole('button', { name: 'Retry all 130' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Retry 130 tasks?' }).waitFor()
  const confirm = dialog.getByRole('button', { name: 'Retry 130 tasks' })
  await expect.poll(() => confirm.isEnabled()).toBe(true)
  expect(await violationsInBothThemes(page)).toEqual([])
  // Another client retries one meanwhile, which this dialog does not repeat.
  await server.call('task:retry', { taskId: ids[0] })
  await expect.poll(() => server.statusOf(ids[0] as string)).toBe('completed')
  await confirm.click()
  await dialog.getByText('1 task refused').waitFor()
  await dialog.getByText(/Fire a tile 1: Cannot retry #\d+/).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => line(page, 'Fire a tile').locator('.state-failed').count()).toBe(0)
  await expect.poll(() => server.statusOf(ids[129] as string)).toBe('completed')
})

it('a change of many tasks is stopped by a person between two parts, and goes on when it is confirmed again', async () => {
  for (let n = 1; n <= 120; n++) await server.create({ name: `Hold ${n}`, executor: 'count', input: { to: 1, ms: 1 } })
  const page = await signedIn()
  await search(page, 'hold')
  let answer: () => void = () => {}
  await page.route('**/tasks/batch', async (route) => {
    const { dryRun = false } = route.request().postDataJSON() as { dryRun?: boolean }
    if (!dryRun) {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
    }
    await route.continue()
  })
  await bar(page).getByRole('button', { name: 'Delete all 120' }).click()
  const dialog = page.getByRole('dialog')
  const asked = page.waitForRequest('**/tasks/batch')
  await dialog.getByRole('button', { name: 'Delete 120 tasks' }).click()
  await asked
  await dialog.getByRole('progressbar').waitFor()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  answer()
  await expect.poll(() => dialog.getByRole('heading').innerText()).toBe('Delete 20 tasks?')
  await expect.poll(() => line(page, 'Hold').count()).toBeLessThan(40)
  await page.unroute('**/tasks/batch')
  await dialog.getByRole('button', { name: 'Delete 20 tasks' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('No task matches these filters.').waitFor()
})

it.each([1280, 390, 320])('axe finds no fault in the filters, which fit %i pixels', async (width) => {
  const page = await signedIn('#/?code=TASK_FAILED&since=2026-01-01T00:00&metadata=customer%3Dada', width)
  if (width < 640) await page.getByRole('button', { name: 'More filters' }).click()
  await bar(page).waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
})
