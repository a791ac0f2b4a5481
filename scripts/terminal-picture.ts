// Takes the picture of `errand run` at a terminal for the documentation: `node scripts/terminal-picture.ts`. What it shows is what the command
// writes; the colors of the marks are added.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from '@lydell/node-pty'
import { launchChromium } from '../test/page/browser/world.ts'
import { TerminalScreen } from '../test/surfaces/repl/terminal-screen.ts'

const root = join(import.meta.dirname, '..')
const columns = 84
const plan = `name: release
tasks:
  tests: { run: sleep 2; echo 412 passed }
  bundle: { run: sleep 1; echo 1.1 MB }
  notes: { after: [tests], run: sleep 1 }
  approve: { after: [tests, bundle], ask: { question: "Publish 1.2.3?", schema: { type: boolean } } }
  publish: { after: [approve, notes], run: sleep 1; echo published, retry: 3, timeout: 10m }
`

const folder = mkdtempSync(join(tmpdir(), 'errand-terminal-'))
try {
  writeFileSync(join(folder, 'release.yaml'), plan)
  const running = begin(['run', 'release.yaml'])
  await running.shows(/^ ›/)
  const shown = [running.picture()]
  for (const args of [
    ['ps', '--all'],
    ['why', 'publish'],
  ]) {
    const other = begin(args)
    await other.ended
    shown.push(other.picture())
  }
  running.kill()
  await running.ended
  await draw(shown.flat())
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function begin(args: readonly string[]) {
  const screen = new TerminalScreen(columns)
  const child = spawn(process.execPath, [join(root, 'dist/bin.js'), ...args], {
    name: 'xterm-256color',
    cols: columns,
    rows: 40,
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', XDG_STATE_HOME: folder } as Record<string, string>,
  })
  let wake = () => {}
  child.onData((text) => {
    screen.write(text)
    wake()
  })
  return {
    ended: new Promise<void>((resolve) => child.onExit(() => resolve())),
    kill: () => child.kill('SIGTERM'),
    async shows(pattern: RegExp): Promise<void> {
      while (!screen.lines.some((line) => pattern.test(line))) await new Promise<void>((resolve) => (wake = resolve))
    },
    /** The command and what is on its screen, without the line about the temporary folder. */
    picture(): string[] {
      const lines = screen.lines.filter((line) => !line.includes(folder))
      return [`$ npx errand ${args.join(' ')}`, ...lines.slice(0, lines.findLastIndex((line) => line !== '') + 1), '']
    },
  }
}

async function draw(lines: readonly string[]): Promise<void> {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const colored = (line: string) =>
    line.startsWith('$ ')
      ? `<b>${escaped(line)}</b>`
      : escaped(line)
          .replaceAll(/[✓✔]|\bcompleted\b/g, '<i class="done">$&</i>')
          .replaceAll(/\?(?= )/g, '<i class="asks">$&</i>')
  const style = `body { margin: 0; background: #16181d } pre { margin: 0; padding: 20px 24px; display: inline-block; color: #d6d9e0;
    font: 14px/1.45 'DejaVu Sans Mono', monospace } b { color: #fff } i { font-style: normal } .done { color: #7bd88f } .asks { color: #f2c14e }`
  const browser = await launchChromium()
  try {
    const page = await browser.newPage({ deviceScaleFactor: 1, viewport: { width: 900, height: 600 } })
    await page.setContent(`<style>${style}</style><pre>${lines.map(colored).join('\n')}</pre>`)
    await page.locator('pre').screenshot({ path: join(root, 'docs/images/terminal.png') })
  } finally {
    await browser.close()
  }
  console.log(lines.join('\n'))
}
