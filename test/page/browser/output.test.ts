// The output of tasks on their pages, in a real Chromium: while they print, and afterwards.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from './served-in-browser.ts'
import { openPage, violationsInBothThemes } from './world.ts'

const { folder, server, newContext } = servedInBrowser()

async function opened(taskId: string, width = 1280): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url, `#/task/${taskId}`)
  onTestFinished(() => expect(complaints).toEqual([]))
  await page.getByRole('img', { name: /^State chart/ }).waitFor()
  return page
}

const logOf = (page: Page) => page.getByRole('log', { name: 'Output' })

it('the page shows what a command prints while it runs, stderr apart, and keeps to the end of it', async () => {
  const gate = join(folder.path, 'gate')
  const run = `seq 1 400; echo wrong >&2; until test -e ${gate}; do sleep 0.05; done; echo the end`
  const taskId = await server.create({ name: 'Print', executor: 'shell', input: { run, shell: '/bin/sh' } })
  const page = await opened(taskId)
  const log = logOf(page)
  await log.locator('.is-stderr', { hasText: 'wrong' }).waitFor()
  await page.getByRole('img', { name: /the task is working/ }).waitFor()
  const isAtEnd = () => log.evaluate((node) => node.scrollTop + node.clientHeight >= node.scrollHeight - 1)
  await expect.poll(isAtEnd).toBe(true)
  await log.evaluate((node) => {
    node.scrollTop = 0
  })
  await server.call('task:create', {
    name: 'Open',
    executor: 'shell',
    input: { run: `touch ${gate}`, shell: '/bin/sh' },
  })
  await log.getByText('the end').waitFor({ state: 'attached' })
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  expect(await log.evaluate((node) => node.scrollTop)).toBe(0)
})

it('the page shows what a function prints, and afterwards what of it was stored', async () => {
  const taskId = await server.create({ name: 'Print', executor: 'prints' })
  const page = await opened(taskId)
  expect(await logOf(page).count()).toBe(0)
  await server.call('task:signal', { taskId, name: 'print' })
  await expect.poll(() => logOf(page).innerText()).toBe('a live line\na stored line')
  await server.call('task:signal', { taskId, name: 'end' })
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  // Stored output is collected for a moment, so the live line came first.
  expect(await logOf(page).innerText()).toBe('a live line\na stored line')
  await page.reload()
  await expect.poll(() => logOf(page).innerText()).toBe('a stored line')
})

it('the page holds a bounded part of a long output, and more of it on request', async () => {
  const input = { run: 'seq 1 1200', shell: '/bin/sh' }
  const page = await opened(await server.create({ name: 'Print a lot', executor: 'shell', input }))
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  const lines = async () => (await logOf(page).locator('pre').first().innerText()).split('\n')
  await expect.poll(async () => (await lines()).length).toBe(500)
  expect((await lines())[0]).toBe('701')
  await page.getByRole('button', { name: 'Show earlier (700 lines)' }).click()
  await expect.poll(async () => (await lines())[0]).toBe('201')
})

it.each([375, 768, 1280])(
  'the page of a failed command shows its error and its last lines at once, %i pixels wide, and the output of all attempts',
  async (width) => {
    const run = 'seq 1 30 >&2; exit 3'
    const taskId = await server.create({
      name: 'Fail',
      executor: 'shell',
      input: { run, shell: '/bin/sh' },
      retry: { maxAttempts: 2, backoffMs: 1 },
    })
    const page = await opened(taskId, width)
    const banner = page.getByRole('region', { name: 'Failed', exact: true })
    const last = banner.getByRole('group', { name: 'Last output' })
    await last.getByText('30').waitFor()
    expect((await last.innerText()).split('\n').slice(-3)).toEqual(['28', '29', '30'])
    expect((await last.boundingBox())?.y).toBeLessThan(400)
    await expect.poll(() => logOf(page).locator('h3').allInnerTexts()).toEqual(['Attempt 1', 'Attempt 2'])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violationsInBothThemes(page)).toEqual([])
  },
)
