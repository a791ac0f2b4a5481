// The page in an Express application, in a real Chromium: a person signs in below the path at which it is mounted.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { createHttp, toNodeListener } from '../../../src/surfaces/http/index.ts'
import { listenWithExpress } from '../../surfaces/http/express-app.ts'
import { launchChromium, token, violationsInBothThemes } from './world.ts'

let browser: Browser

beforeAll(async () => {
  browser = await launchChromium()
}, 300_000)

afterAll(() => browser?.close())

const path = '/tasks/of-mine'

/** An application with an engine that has one task, and the address of its page. */
async function openApplication(): Promise<string> {
  const engine = await createEngine({
    executors: { asks: (_task, run) => run.ask('Which?', { enum: ['red', 'blue'] }) },
  })
  onTestFinished(() => engine.close())
  await engine.create({ name: 'Choose', executor: 'asks' })
  const http = createHttp(engine, { token, basePath: path, page: true })
  onTestFinished(() => http.close())
  return `${await listenWithExpress(path, toNodeListener(http.fetch, console.error))}${path}`
}

async function newPage(url: string, width = 1280): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const elsewhere: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) elsewhere.push(request.url())
  })
  page.on('pageerror', (error) => elsewhere.push(String(error)))
  onTestFinished(() => expect(elsewhere).toEqual([]))
  return page
}

it.each([375, 768, 1280])(
  'a person signs in to the page of an application and answers a question, %i pixels wide',
  async (width) => {
    const url = await openApplication()
    const page = await newPage(url, width)
    await page.goto(url)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('treegrid', { name: 'Tasks' }).waitFor()
    expect(page.url()).toBe(url)
    await page.getByRole('link', { name: 'Choose' }).first().click()
    await page.getByRole('img', { name: /^State chart/ }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.getByRole('button', { name: /^blue/ }).first().click()
    await page.getByRole('img', { name: /the task is completed/ }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  },
)

it('a link with the token signs a person in to the page of an application', async () => {
  const url = await openApplication()
  const page = await newPage(url)
  await page.goto(`${url}/#token=${token}`)
  await page.getByRole('treegrid', { name: 'Tasks' }).waitFor()
  expect(page.url()).not.toContain(token)
})
