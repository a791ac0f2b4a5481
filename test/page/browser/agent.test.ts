// The page of an agent's task, in a real Chromium: what each step of its model took, its calls, and the time of a person apart.
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from './served-in-browser.ts'
import { openPage, violationsInBothThemes } from './world.ts'

const { server, newContext } = servedInBrowser()

async function opened(taskId: string, width: number): Promise<Page> {
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url, `#/task/${taskId}`)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

/** Once the page shows the question. */
async function approve(page: Page, taskId: string): Promise<void> {
  await page.getByText('May this be paid?').first().waitFor()
  await server.call('task:answer', { taskId, value: { approved: true } })
}

it.each([375, 768, 1280])(
  'the conversation of an agent has the model, the duration and the tokens of each step, and its calls, %i pixels wide',
  async (width) => {
    const taskId = await server.create({ name: 'Pay', goal: 'Pay the bill' })
    const page = await opened(taskId, width)
    const talk = page.getByRole('log', { name: 'Conversation' })
    await talk.getByText('I pay it.').waitFor()
    expect(await talk.locator('.step').first().innerText()).toMatch(/^script, \S+, 1,200 tokens in, 24 out$/)
    expect(await talk.getByText('It is due today.').isVisible()).toBe(false)
    await approve(page, taskId)
    await talk.getByText('It is paid.').waitFor()
    await talk.getByText('bank:pay').first().click()
    const call = talk.locator('.call[open]')
    await call.getByRole('heading', { name: 'Parameters' }).waitFor()
    await call.getByRole('heading', { name: 'Result' }).waitFor()
    await page.getByRole('img', { name: /^script, 1,200 tokens in, 24 out: completed, / }).waitFor()
    await page.getByText('2 steps of script: 2,500 tokens in, 30 out').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violationsInBothThemes(page)).toEqual([])
  },
)

it("a call that waited for approval shows the person's time apart from its own", async () => {
  const taskId = await server.create({ name: 'Pay', goal: 'Pay the bill' })
  const page = await opened(taskId, 1280)
  // As if the model had requested it long before.
  await page.route(`**/tasks/${taskId}/calls?*`, async (route) => {
    const response = await route.fetch()
    const { calls, ...rest } = (await response.json()) as { calls: Array<{ createdAt: number }> }
    const earlier = calls.map((call) => ({ ...call, createdAt: call.createdAt - 3_600_000 }))
    await route.fulfill({ response, json: { ...rest, calls: earlier } })
  })
  await approve(page, taskId)
  const call = page.locator('details.call.is-completed > summary')
  await call.getByText(/^\d+ms \d\d:\d\d:\d\d, waited 1h/).waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
