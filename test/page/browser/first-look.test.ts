// The page in a real Chromium: a person creates a task, follows it and answers its question, and axe finds no fault. test/long does the rest.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from './served-in-browser.ts'
import { openPage, violations } from './world.ts'

const { server, newContext } = servedInBrowser()

async function signedIn(): Promise<Page> {
  const context = await newContext({ bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

it('a person creates a task on the page, and sees that it is completed', async () => {
  const page = await signedIn()
  await page
    .getByRole('link', { name: /create/i })
    .first()
    .click()
  await page.getByLabel('Name').fill('Count the tides')
  await page.getByLabel(/executor/i).selectOption('count')
  await page.getByLabel(/^Input/).fill('{"to": 3, "ms": 1}')
  await page.getByRole('button', { name: /^create/i }).click()
  await page.getByRole('img', { name: /State chart: the task is completed/ }).waitFor()
})

it('the page does not say that it reconnects before it has been connected, which would move the list', async () => {
  const context = await newContext()
  await context.addInitScript(recordBanners)
  const { page } = await openPage(context, server.url)
  await page.getByText('live').first().waitFor()
  expect(await page.evaluate(() => (globalThis as unknown as { banners: string[] }).banners)).toEqual([])
})

/** Runs in the page: keeps the text of every banner that is shown. As text, because the tests are not compiled for a browser. */
const recordBanners = `
  globalThis.banners = []
  new MutationObserver(() => {
    const text = document.querySelector('.banner')?.textContent
    if (text !== undefined && text !== banners.at(-1)) banners.push(text)
  }).observe(document, { childList: true, subtree: true })
`

it('a person answers a question on the page, in which axe finds no fault but one that is planted', async () => {
  await server.create({ name: 'Seen by all', executor: 'asks' })
  const page = await signedIn()
  await page.getByRole('row').filter({ hasText: 'Seen by all' }).first().waitFor()
  expect(await violations(page)).toEqual([])
  await page.evaluate("document.body.append(document.createElement('button'))")
  expect(await violations(page)).toEqual([expect.stringContaining('button-name')])
  await page
    .getByRole('button', { name: /^green/ })
    .first()
    .click()
  await page.getByRole('row').filter({ hasText: 'Seen by all' }).locator('.state-completed').waitFor()
})

it('a person unfolds on the page what a model thought before its answer', async () => {
  await server.create({ name: 'Thought about', goal: 'Look at it' })
  const page = await signedIn()
  await page.getByRole('link', { name: 'Thought about' }).first().click()
  await page.getByText('I looked at it, and it is done.').first().waitFor()
  const thought = page.getByText('It looks fine.')
  expect(await thought.isVisible()).toBe(false)
  await page.getByText('Reasoning').click()
  await thought.waitFor()
})
