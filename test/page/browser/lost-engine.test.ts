// The page of a server that does not work, when the process that ran a task dies: no event reports it.
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../../src/surfaces/http/index.ts'
import { createOne, createPlace, openEngine, startEngine } from '../../crash/child.ts'
import { launchChromium, openPage, token } from './world.ts'

it('an open page shows that the process of a task has ended, and why names what continues it', async () => {
  const place = createPlace()
  const worker = startEngine(place, { leave: 'never' })
  await worker.lineWhere((line) => 'ready' in line)
  const engine = await openEngine(place, { work: false })
  const task = await createOne(engine, { name: 'Long walk', executor: 'idle' })
  await worker.lineWhere((line) => 'idling' in line)
  const server = await serve(engine as never, { token, port: 0 })
  onTestFinished(() => server.close())
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  const context = await browser.newContext()

  const list = await openPage(context, server.url)
  const opened = await openPage(context, server.url, `#/task/${task.id}`)
  const row = list.page.getByRole('row').filter({ hasText: 'Long walk' })
  await row.getByText('working').first().waitFor()
  await opened.page.getByText('is running (run 1)').waitFor()
  await worker.kill()
  await row.getByText('interrupted').first().waitFor()
  await opened.page.getByText('but the process of its engine has ended').waitFor()
  expect([...list.complaints, ...opened.complaints]).toEqual([])
})
