// Takes the screenshots of the page for the documentation, with example tasks: `node scripts/screenshots.ts [FOLDER]`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { launchChromium, openPage, ServedLedger, temporaryFolder } from '../test/page/browser/world.ts'

const images = process.argv[2] ?? join(import.meta.dirname, '../docs/images')

const report = {
  name: 'Quarterly report',
  objectives: ['Collect the figures', 'Explain the dip in March'],
  tasks: {
    figures: { name: 'Collect the figures', executor: 'count', input: { to: 40, ms: 20 } },
    interviews: {
      name: 'Interviews',
      tasks: {
        ann: { name: 'Talk with sales', executor: 'count', input: { to: 12, ms: 30 } },
        ben: { name: 'Talk with support', executor: 'rests' },
      },
    },
    colour: { name: 'Choose a colour for the charts', executor: 'asks' },
    charts: { name: 'Draw the charts', executor: 'count', after: ['figures', 'colour'] },
    text: { name: 'Write the text', executor: 'count', input: { to: 400, ms: 200 }, after: 'figures', priority: 5 },
    print: { name: 'Print it', executor: 'fails', after: 'figures' },
  },
}

const reviewQuestion = `The draft is **finished**. Is it good enough to print?

- Chapter 3 has no figures for *March*.
- The title in \`cover.md\` is provisional.`

/** A task that asks, sleeps, fails, and is retried by hand. */
async function baked(): Promise<string> {
  const id = await server.create({ name: 'Bake bread', executor: 'bakes' })
  const reached = async (status: string) => {
    while ((await server.statusOf(id)) !== status) await delay(50)
  }
  await reached('input_required')
  await server.call('task:answer', { taskId: id, value: 'rye' })
  await reached('failed')
  await server.call('task:retry', { taskId: id })
  await reached('completed')
  return id
}

// The source of the server, and not what the last tests have made of it.
process.env['ERRAND_TEST_SOURCES'] = '1'
const folder = temporaryFolder()
const server = new ServedLedger(join(folder.path, 'pictures.db'))
const [browser] = await Promise.all([launchChromium(), server.start()])
try {
  mkdirSync(images, { recursive: true })
  for (let n = 1; n <= 8; n++) {
    const input = { to: 4 * n, ms: 15 }
    await server.create({ name: `Index chapter ${n}`, executor: 'count', input, tags: ['book'] })
  }
  const root = await server.create(report)
  await server.call('agent:join', { taskId: root, agentId: 'ann', role: 'analyst' })
  for (const [text, confidence] of [
    ['The dip in March is one customer who left.', 0.9],
    ['Support answers within four hours.', 0.6],
  ] as const) {
    await server.call('mem:remember', { taskId: root, agentId: 'ann', text, confidence })
    await server.call('mem:remember', { taskId: root, text: `${text} Sales says so too.`, confidence })
  }
  await server.create({ name: 'Bind the book', executor: 'confirms' })
  await server.create({ name: 'Find a title', executor: 'named' })
  await server.create({
    name: 'Review the draft',
    executor: 'inquires',
    input: reviewQuestion,
    description: 'Decide how it is bound.',
  })
  const broken = await server.create({
    name: 'Back up the archive',
    executor: 'shell',
    input: {
      run: 'for n in 1 2 3 4 5 6; do echo "copied part $n"; done; echo "no space left on device" >&2; exit 1',
      shell: '/bin/sh',
    },
  })
  const paid = await server.create({ name: 'Pay the bill', goal: 'Pay the bill' })
  for (const [name, options, hash] of [
    ['overview', { colorScheme: 'light' }, '#/'],
    ['task', { colorScheme: 'light', viewport: { width: 1280, height: 1100 } }, `#/task/${root}`],
    ['machine', { colorScheme: 'light', viewport: { width: 1400, height: 800 } }, `#/task/${await baked()}`],
    ['failure', { colorScheme: 'light' }, `#/task/${broken}`],
    ['agent', { colorScheme: 'dark', viewport: { width: 1280, height: 1000 } }, `#/task/${paid}`],
  ] as const) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      deviceScaleFactor: 1,
      ...options,
    })
    const { page } = await openPage(context, server.url, hash)
    await page
      .getByText(/Quarterly report|Bake bread|Back up the archive|Pay the bill/)
      .first()
      .waitFor()
    await page.waitForTimeout(3_000)
    const shown = name === 'machine' ? page.getByRole('img', { name: 'State chart' }) : page
    await shown.screenshot({ path: join(images, `${name}.png`) })
    await context.close()
  }
} finally {
  await browser.close()
  await server.kill()
  folder.remove()
}
