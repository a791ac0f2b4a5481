// A person who has never seen the page, in a real Chromium: only visible texts lead to what a failing command printed, what the run of an agent
// cost, and which tasks failed in the last hour, and all of these are retried.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { servedInBrowser } from '../../../page/browser/served-in-browser.ts'
import { openPage, violationsInBothThemes } from '../../../page/browser/world.ts'

const { folder, server, newContext } = servedInBrowser()

async function until(taskId: string, status: string): Promise<void> {
  await expect.poll(() => server.statusOf(taskId)).toBe(status)
}

it('a person finds the output of a failure, the tokens of an agent, and the failures of the last hour, and retries these', async () => {
  const marker = join(folder.path, 'repaired')
  const run = `echo the disk is full; test -e ${marker}`
  const backup = await server.create({ name: 'Back up', executor: 'shell', input: { run, shell: '/bin/sh' } })
  const report = await server.create({ name: 'Send the report', executor: 'shell', input: { run, shell: '/bin/sh' } })
  const agent = await server.create({ name: 'Pay', goal: 'Pay the bill' })
  await until(backup, 'failed')
  await until(report, 'failed')
  await until(agent, 'input_required')
  await server.call('task:answer', { taskId: agent, value: { approved: true } })
  await until(agent, 'completed')

  const context = await newContext({ bypassCSP: true })
  const { page, complaints } = await openPage(context, server.url, '#/')
  await page.getByText('Back up').first().click()
  await page.getByText('the disk is full').first().waitFor()
  expect(await violationsInBothThemes(page)).toEqual([])

  await page.getByText('All tasks').click()
  await page.getByText('Pay').first().click()
  await page.getByText('2 steps of script: 2,500 tokens in, 30 out').waitFor()

  await page.getByText('All tasks').click()
  await page.getByText('More filters').click()
  await page.getByLabel('Ended or created').selectOption('last hour')
  await page.getByRole('group', { name: 'Filter by state' }).getByText('failed').click()
  await page.getByText('Send the report').first().waitFor()
  await server.call('task:create', {
    name: 'Repair',
    executor: 'shell',
    input: { run: `touch ${marker}`, shell: '/bin/sh' },
  })
  await page.getByText('Retry all 2').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry 2 tasks' }).click()
  await until(backup, 'completed')
  await until(report, 'completed')
  expect(complaints).toEqual([])
})
