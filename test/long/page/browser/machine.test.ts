// The machine of a task on its page in a real Chromium: its chart, the events that are sent from it, and its moves as they happen.
import { expect, it, onTestFinished } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { server, newContext } = servedInBrowser()

async function opened(taskId: string) {
  const { page, complaints } = await openPage(await newContext({ bypassCSP: true }), server.url, `#/task/${taskId}`)
  onTestFinished(() => expect(complaints).toEqual([]))
  const chart = page.locator('svg.machine')
  await chart.waitFor()
  return { page, chart, panel: page.locator('details', { has: page.getByRole('heading', { name: 'Machine order' }) }) }
}

it('the page of a machine draws its chart, sends an event with its payload, and follows its moves', async () => {
  const taskId = await server.create({ name: 'Order 7', executor: 'order' })
  const { page, chart, panel } = await opened(taskId)
  const present = () => chart.locator('.node.current text').allTextContents()
  expect(await present()).toEqual(['open'])
  expect(await violationsInBothThemes(page)).toEqual([])

  await panel.getByLabel('Payload').fill('{ card')
  await panel.getByRole('button', { name: 'PAY', exact: true }).click()
  await panel.getByText('This is not JSON.').waitFor()
  await panel.getByLabel('Payload').fill('{ "card": "tok_1" }')
  await panel.getByRole('button', { name: 'PAY', exact: true }).click()
  await chart.getByText('PAY 1').waitFor()
  expect(await present()).toEqual(['paid', 'packing'])
  await panel.getByText('tok_1').waitFor()
  await panel.getByText(/PAY → paid\.packing/).waitFor()
  expect(await panel.getByLabel('Payload').inputValue()).toBe('')

  await server.call('task:signal', { taskId, name: 'PACKED' })
  await chart.getByText('PACKED 2').waitFor()
  expect(await present()).toEqual(['paid', 'sending'])
  expect(await violationsInBothThemes(page)).toEqual([])

  await panel.getByRole('button', { name: 'DELIVERED' }).click()
  await chart.getByText('DELIVERED 3').waitFor()
  expect(await panel.getByRole('group', { name: 'Events' }).count()).toBe(0)
})
