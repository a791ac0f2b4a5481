// The page of one task in a real Chromium: what stands first, the error of a failed task, the family of a group, and hostile Markdown.
import type { BrowserContext, Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

/** Fails the test if the page logs an error or requests anything from another server. */
async function opened(taskId: string, context?: BrowserContext): Promise<Page> {
  const { page, complaints } = await openPage(context ?? (await newContext()), server.url, `#/task/${taskId}`)
  onTestFinished(() => expect(complaints).toEqual([]))
  await page.getByRole('img', { name: /^State chart/ }).waitFor()
  return page
}

const titles = (page: Page) => page.locator('.main-column h2').allInnerTexts()

const works = {
  name: 'Pottery',
  tasks: {
    bowl: { name: 'Fire the bowl', executor: 'fails' },
    glaze: { name: 'Choose the glaze', executor: 'asks' },
    shelf: {
      name: 'Fill the shelf',
      tasks: { cup: { name: 'Fire the cup', executor: 'fails' }, wait: { name: 'Wait for clay', executor: 'rests' } },
    },
  },
}

const hostile = `# Plan
**Bold** <img src=x onerror="document.title='gone'"> <script>document.title='gone'</script>
![a pixel](https://elsewhere.test/pixel.png) [run](javascript:document.title='gone') [home](https://elsewhere.test/)

| a | b |
|---|---|
| 1 | 2 |`

it('the page of a task that waits for a signal names it, and then that it waits for a call to its webhook', async () => {
  const taskId = await server.create({ name: 'Collect the fee', executor: 'collects' })
  const page = await opened(taskId)
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
  await page.getByText(new RegExp(`It waits for the signal "paid" since ${time}, until ${time}\\.`)).waitFor()
  await server.call('task:signal', { taskId, name: 'paid' })
  await page.getByText(new RegExp(`It waits for a call to its webhook since ${time}\\.`)).waitFor()
})

it('the page of a failed task says its error in its head, and unfolds its stack and its causes', async () => {
  const taskId = await server.create({ name: 'Fire the bowl', executor: 'fails' })
  const context = await newContext()
  const thrown = {
    code: 'TASK_FAILED',
    name: 'KilnError',
    message: 'The kiln is cold.',
    stack: 'KilnError: The kiln is cold.\n    at fire (kiln.ts:3:9)',
    cause: { name: 'TypeError', message: 'No gas is left.', cause: { message: 'The valve is shut.', code: 'ESHUT' } },
  }
  await context.route(`**/tasks/${taskId}`, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    await route.fulfill({ response, json: { ...body, task: { ...body.task, error: body.task.error && thrown } } })
  })
  const page = await opened(taskId, context)
  const banner = page.getByRole('region', { name: 'Failed' })
  await banner.getByText('KilnError:', { exact: true }).waitFor()
  await banner.locator('.text').getByText('The kiln is cold.', { exact: true }).waitFor()
  await banner.getByText('caused by TypeError: No gas is left.').waitFor()
  await banner.getByText('caused by The valve is shut. ESHUT').waitFor()
  const frame = banner.getByText('at fire (kiln.ts:3:9)')
  expect(await frame.isVisible()).toBe(false)
  await banner.getByText('Stack').click()
  await frame.waitFor()
  expect(await page.getByText('Fire the bowl is failed').count()).toBe(0)
})

it('the page of a task that will be retried says why its last attempt failed', async () => {
  const taskId = await server.create({
    name: 'Try again',
    executor: 'fails',
    retry: { maxAttempts: 2, backoffMs: 3_600_000 },
  })
  const page = await opened(taskId)
  await page.getByRole('region', { name: 'Attempt 1 failed' }).getByText('The kiln is cold.').waitFor()
})

it('the page of a failed group names the children that failed', async () => {
  const tasks = { plate: { name: 'Fire the plate', executor: 'fails' }, cup: { executor: 'rests', autoStart: false } }
  const taskId = await server.create({ name: 'Fire all', onChildFailure: 'fail', tasks })
  const page = await opened(taskId)
  const banner = page.getByRole('region', { name: 'Failed' })
  await banner.getByRole('list', { name: 'Tasks that failed' }).getByText('The kiln is cold.').waitFor()
  await banner.getByRole('link', { name: /#\d+ Fire the plate/ }).click()
  await page.getByRole('heading', { name: 'Fire the plate' }).waitFor()
})

it('the page of a group begins with its children and its family on a time axis', async () => {
  const taskId = await server.create(works)
  const page = await opened(taskId)
  expect((await titles(page)).slice(0, 2)).toEqual(['Children', 'Family over time'])
  const row = (name: string) => page.getByRole('group', { name: 'Children' }).getByRole('row').filter({ hasText: name })
  await row('Fire the bowl').getByText('TASK_FAILED').waitFor()
  expect(await row('Fire the bowl').innerText()).toMatch(
    /failed\s+#\d+\s+Fire the bowl\s+fails\s+\S+\s+TASK_FAILED The kiln is cold\./,
  )
  await row('Fill the shelf').getByText('1 failed below').waitFor()
  const gantt = page.getByRole('group', { name: /^Family on a time axis/ })
  await gantt.getByRole('link', { name: /#\d+ Fire the cup: failed, \S+, TASK_FAILED/ }).waitFor()
  await expect.poll(() => gantt.getByRole('link').count()).toBe(6)
  const line = page.locator('.gantt-line').filter({ has: page.getByRole('link', { name: /Wait for clay: working/ }) })
  const bar = line.locator('.work')
  const widthOf = async () => Number(await bar.getAttribute('width'))
  await bar.waitFor()
  const before = await widthOf()
  await expect.poll(widthOf).toBeGreaterThan(before)
  await row('Fill the shelf').getByRole('link').click()
  await page.getByRole('heading', { name: 'Fill the shelf' }).waitFor()
})

it('the page of a group shows its children as they stood in the past', async () => {
  const taskId = await server.create({
    name: 'One bowl',
    tasks: { bowl: { name: 'Fire the bowl', executor: 'fails' } },
  })
  const page = await opened(taskId)
  const rows = page.getByRole('group', { name: 'Children' }).getByRole('row')
  await rows.getByText('The kiln is cold.').waitFor()
  const { events } = await server.call<{ events: Array<{ seq: number; type: string; data: { name: string } }> }>(
    'event:list',
    { before: Number.MAX_SAFE_INTEGER, limit: 20 },
  )
  const start = events.find(({ type, data }) => type === 'task.started' && data.name === 'Fire the bowl')
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByRole('slider', { name: 'As of' }).fill(String(start?.seq))
  await rows.locator('.state-working').waitFor()
  expect(await rows.getByText('The kiln is cold.').count()).toBe(0)
  await page.getByRole('link', { name: /#\d+ Fire the bowl: working/ }).waitFor()
})

it('the page of a wide group draws a part of its family and says so', async () => {
  const tasks = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`part${n}`, { autoStart: false }]))
  const page = await opened(
    await server.create({ name: 'Wide', tasks: { ...tasks, last: { name: 'Late', executor: 'fails' } } }),
  )
  await page.getByText('39 of 61 tasks; those that ask, failed or work come first').waitFor()
  await expect
    .poll(() =>
      page
        .getByRole('group', { name: /^Family on a time axis/ })
        .getByRole('link')
        .count(),
    )
    .toBe(40)
  const rows = page.getByRole('group', { name: 'Children' }).getByRole('row')
  await expect.poll(() => rows.nth(1).innerText()).toContain('Late')
  await expect.poll(() => rows.count()).toBe(26)
  await page.getByRole('button', { name: 'Show 25 more of 61' }).click()
  await expect.poll(() => rows.count()).toBe(51)
})

/** The document or boxes that scroll sideways, other than code and the stacks of errors, whose lines are not broken. */
function widerBoxes(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('*')]
    .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
    .filter((node) => node.matches('html') || ['auto', 'scroll'].includes(getComputedStyle(node).overflowX))
    .filter((node) => !node.matches('pre.code'))
    .map(({ tagName, className, scrollWidth, clientWidth }) => tagName + '.' + className + ' ' + scrollWidth + ' in ' + clientWidth)`)
}

it.each([320, 375])('no part of a page scrolls sideways on a phone of %i pixels', async (width) => {
  const [asks, group, late] = [
    await server.create({ name: 'Watch the kiln', executor: 'asks' }),
    await server.create(works),
    await server.create({ name: 'A task whose name is longer than any phone is wide', executor: 'fails' }),
  ]
  const blocked = await server.create({ name: 'Unload the kiln', executor: 'rests', blockedBy: [asks, group, late] })
  await server.create({ name: 'Sell the bowls', executor: 'rests', blockedBy: [blocked] })
  const page = await opened(asks, await newContext({ viewport: { width, height: 800 } }))
  for (const taskId of [asks, group, late, blocked]) {
    await page.goto(`${server.url}/#/task/${taskId}`)
    await page.getByText(taskId).first().waitFor()
    await page.getByRole('img', { name: /^State chart/ }).waitFor()
    expect(await widerBoxes(page)).toEqual([])
  }
  const drawing = page.getByRole('group', { name: 'What it comes after, and what comes after it' })
  await expect.poll(() => drawing.getByRole('link').count()).toBe(5)
  await page.goto(`${server.url}/#/new`)
  await page.getByLabel('Executor').waitFor()
  expect(await widerBoxes(page)).toEqual([])
  await page.goto(`${server.url}/#/`)
  await page.getByPlaceholder(/^Search name/).waitFor()
  expect(await widerBoxes(page)).toEqual([])
})

it('a phone shows all states of the state chart of a task', async () => {
  const taskId = await server.create({ name: 'Watch the kiln', executor: 'asks' })
  const page = await opened(taskId, await newContext({ viewport: { width: 375, height: 800 } }))
  const chart = page.getByRole('img', { name: /State chart: the task is input_required/ })
  await chart.waitFor()
  await expect.poll(() => chart.locator('.node').count()).toBe(8)
  const beyond = await page.evaluate<number>(`[...document.querySelectorAll('svg.chart .edge')].filter((edge) => {
    const { x, width } = edge.getBBox()
    return x < 0 || x + width > edge.ownerSVGElement.viewBox.baseVal.width
  }).length`)
  expect(beyond).toBe(0)
  await page.setViewportSize({ width: 1280, height: 800 })
  await chart.getByText('cancel').first().waitFor()
})

it('a person answers a question with a button on the page of its task', async () => {
  const taskId = await server.create({ name: 'Choose the glaze', executor: 'asks' })
  const page = await opened(taskId)
  await page.getByRole('button', { name: 'blue: answer to Which colour shall it be?' }).click()
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  await page.getByText('It will be blue.').first().waitFor()
})

it('the page of a task offers only what its state accepts, and keeps the keyboard when a button goes', async () => {
  const taskId = await server.create({ name: 'Watch the kiln', executor: 'rests' })
  const page = await opened(taskId)
  const offered = () => page.getByRole('toolbar', { name: 'Actions' }).getByRole('button').allInnerTexts()
  await page.getByRole('img', { name: /the task is working/ }).waitFor()
  await expect.poll(offered).toEqual(['Pause', 'Send message', 'Change priority', 'Cancel', 'Fork'])
  await page.getByRole('button', { name: 'Pause' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).press('Enter')
  await expect.poll(offered).toEqual(['Resume', 'Send message', 'Change priority', 'Cancel', 'Fork'])
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  await server.call('task:cancel', { taskId })
  await page.getByText('This task is canceled, which is final.').waitFor()
  expect(await offered()).toEqual(['Fork'])
})

it('the page of a task shows no empty parts', async () => {
  const taskId = await server.create({ name: 'Nothing yet', autoStart: false })
  const page = await opened(taskId)
  expect(await titles(page)).toEqual(['State chart', 'History'])
  expect(await page.locator('.side-column h2').allInnerTexts()).toEqual(['Details'])
})

it('the page renders Markdown of messages, results and descriptions, and neither runs nor loads what is in it', async () => {
  const taskId = await server.create({ name: 'Write', executor: 'writes', input: hostile, description: hostile })
  const page = await opened(taskId)
  await page.getByRole('img', { name: /the task is completed/ }).waitFor()
  for (const part of ['.description', '.conversation', '.main-column .section:first-child']) {
    const text = page.locator(part)
    await text.locator('strong').getByText('Bold').waitFor()
    expect(await text.locator('td').allInnerTexts()).toEqual(['1', '2'])
    expect(await text.locator('img, script').count()).toBe(0)
    expect(await text.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
      'https://elsewhere.test/pixel.png',
      'https://elsewhere.test/',
    ])
    expect(await text.getByRole('link', { name: 'home' }).getAttribute('rel')).toContain('noopener')
    expect(await text.innerText()).toContain('<script>')
  }
  expect(await page.title()).toBe('Write · errand')
})

it.each([1280, 390])('axe finds no fault in the pages of groups, failures and texts, %i pixels wide', async (width) => {
  const group = await server.create(works)
  const failed = await server.create({ name: 'Fire the bowl', executor: 'fails' })
  const text = await server.create({
    name: 'Write',
    executor: 'writes',
    input: hostile,
    description: '- [x] a\n- [ ] b\n\n> `c`',
  })
  const blocked = await server.create({ name: 'After all', executor: 'rests', blockedBy: [group] })
  const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
  const found: Array<[string, string[]]> = []
  for (const [id, part] of [
    [group, 'Family over time'],
    [failed, 'The kiln is cold.'],
    [text, 'Result'],
    [blocked, 'Dependencies'],
  ] as const) {
    const page = await opened(id, context)
    await page.getByText(part).first().waitFor()
    found.push([part, await violationsInBothThemes(page)])
    await page.close()
  }
  expect(found.filter(([, faults]) => faults.length > 0)).toEqual([])
})

it.each([1280, 390])(
  'axe finds no fault where a person signs in, in a team, and in the past, %i pixels wide',
  async (width) => {
    const taskId = await server.create({
      name: 'Team',
      objectives: ['Dig', 'Fire'],
      tasks: { a: { executor: 'asks' } },
    })
    await server.call('agent:join', { taskId, agentId: 'ann', role: 'potter' })
    await server.call('mem:remember', { taskId, text: 'The clay is wet.', confidence: 0.9 })
    const context = await newContext({ viewport: { width, height: 800 }, bypassCSP: true })
    const signIn = await context.newPage()
    await signIn.goto(server.url)
    await signIn.getByLabel(/token/i).waitFor()
    const found = [await violationsInBothThemes(signIn)]
    const page = await opened(taskId, context)
    await page.getByText('The clay is wet.').first().waitFor()
    found.push(await violationsInBothThemes(page))
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByRole('slider', { name: 'As of' }).waitFor()
    found.push(await violationsInBothThemes(page))
    expect(found).toEqual([[], [], []])
  },
)
