// `errand init`: writes a first plan, the folder that it reads, and an example of an executor. It overwrites nothing.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { ErrandError } from '../../../core/errors.ts'
import { packageFolder } from '../../../core/package-folder.ts'
import { messageOf } from '../../../core/stored-error.ts'
import { misuse } from '../../terminal/arguments.ts'
import { printValue } from '../../terminal/io.ts'
import { shellCommand } from '../../terminal/shell-quote.ts'
import { defineVerb } from '../verb.ts'

export const init = defineVerb({
  usage: 'init [FOLDER]',
  help: [
    'Writes plan.yaml, a folder notes/ that the plan reads, and count-words.mjs, a program with an executor of its own. The first line of',
    'the plan names the JSON Schema of plans, with which editors complete and check it. FOLDER defaults to this one. Files that exist are',
    'not overwritten: the command then writes nothing and exits with 2.',
  ].join('\n'),
  positionals: { max: 1 },
  async run(io, { values, positionals: [given = '.'] }) {
    const folder = resolve(io.cwd, given)
    const files = filesFor(folder)
    const existing = Object.keys(files).filter((name) => existsSync(join(folder, name)))
    if (existing.length > 0) {
      throw misuse(
        `Cannot write ${existing.join(', ')}: ${existing.length === 1 ? 'it already exists' : 'they already exist'} in ${folder}. Name another folder: errand init my-tasks.`,
        { folder, existing },
      )
    }
    for (const [name, text] of Object.entries(files)) await write(join(folder, name), text)
    const enter = folder === io.cwd ? '' : `${shellCommand('cd', given)} && `
    printValue(io, values, { folder, files: Object.keys(files) }, [
      ...Object.keys(files).map((name) => `wrote ${join(given, name)}`),
      '',
      `Run the plan:     ${enter}npx errand run plan.yaml`,
      `Run the program:  ${enter}node count-words.mjs`,
    ])
  },
})

/** Refuses to replace a file that another program has created in the meantime. */
async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `Cannot write ${file}: ${messageOf(error)}.`, { file })
  }
}

function filesFor(folder: string): Record<string, string> {
  return {
    'plan.yaml': `# yaml-language-server: $schema=${schemaFrom(folder)}\n${plan}`,
    'notes/first.md': 'Tasks survive a crash.\n',
    'notes/second.md': 'Completed tasks are not repeated.\n',
    'count-words.mjs': program,
  }
}

const schemaFile = 'dist/plan.schema.json'

/** The schema in node_modules of this folder or of one above it, as a relative path; else the absolute path in this package. */
function schemaFrom(folder: string): string {
  for (let above = folder; ; above = dirname(above)) {
    const installed = join(above, 'node_modules/errand', schemaFile)
    if (existsSync(installed)) {
      const path = relative(folder, installed)
      return path.startsWith('..') ? path : `./${path}`
    }
    if (above === dirname(above)) return join(packageFolder() ?? 'node_modules/errand', schemaFile)
  }
}

const plan = `name: notes

tasks:
  words:
    run: cat notes/*.md | wc -w

  approve:
    ask:
      question: Write the report?
      schema: { type: boolean }
      default: true # the answer where no terminal can ask

  report:
    after: [words, approve]
    run: |
      [ "$ERRAND_RESULT_approve" = true ] || exit 0
      echo "The notes have $ERRAND_RESULT_words words." | tee report.txt
`

const program = `// Counts the words of each file in notes/. Each call is recorded with its result: if you kill the program and start it again, it
// counts only the files that are not counted yet. Change the key to count all files again.
import { readdir, readFile } from 'node:fs/promises'
import { createEngine } from 'errand'

const countWords = async (task, run) => {
  const { folder } = task.input
  const files = await run.call('list', { folder }, () => readdir(folder))
  let words = 0
  for (const file of files) {
    words += await run.call('count', { file }, async () => {
      const text = await readFile(\`\${folder}/\${file}\`, 'utf8')
      return text.split(/\\s+/).filter(Boolean).length
    })
  }
  return { files: files.length, words }
}

const engine = await createEngine({ ledger: '.errand/ledger.db', executors: { countWords }, onInterrupt: 'rerun' })
const task = await engine.create({ executor: 'countWords', input: { folder: 'notes' }, key: 'count the notes' })
console.log(await engine.result(task))
await engine.close()
`
