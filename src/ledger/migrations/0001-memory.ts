// Memory: observations, facts and their indexes, and the record of decisions about them. It has no foreign key to tasks, because it
// outlives purged ones.
import { type Compilable, sql } from 'kysely'
import { checked, type Guard, guardTrigger, raw, required, type Spelling } from './migration.ts'

export function memoryTables(spelling: Spelling): Compilable[] {
  return [
    ...branchTable(spelling),
    ...observationTable(spelling),
    ...factTable(spelling),
    ...factWordTable(spelling),
    ...factTextTable(spelling),
    ...factVectorTable(spelling),
    ...consolidationTables(spelling),
    ...memoryGuards(spelling),
  ]
}

const memorable = `type in ('insight', 'decision', 'discovery')`
const comparable = `status = 'active' and category <> 'summary'`

function branchTable({ db, integer, numbered, index }: Spelling): Compilable[] {
  return [
    numbered('branch')
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('parent', 'text', (column) => column.references('branch.name'))
      .addColumn('description', 'text', required)
      .addColumn('status', 'text', checked(`status in ('active', 'merged', 'archived')`))
      .addColumn('task_id', 'text')
      .addColumn('agent_id', 'text')
      .addColumn('created_at', integer, required)
      .addColumn('updated_at', integer, required)
      .addCheckConstraint('branch_main_is_the_root', sql`(parent is null) = (name = 'main')`)
      .addCheckConstraint('branch_main_is_active', sql`name <> 'main' or status = 'active'`)
      .addCheckConstraint('branch_is_not_its_parent', sql`parent <> name`),
    index('branch_child', 'branch', 'parent, seq'),
    index('branch_of_task', 'branch', 'task_id, seq', 'task_id is not null'),
    raw(
      db,
      `insert into branch (name, parent, description, status, task_id, agent_id, created_at, updated_at)
       values ('main', null, '', 'active', null, null, 0, 0)`,
    ),
  ]
}

function observationTable({ integer, numbered, index }: Spelling): Compilable[] {
  const pending = (name: string, columns: string) =>
    index(name, 'observation', columns, `consolidated_by is null and ${memorable}`)
  return [
    numbered('observation')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('session_id', 'text', required)
      .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
      .addColumn('type', 'text', checked(`type in ('tool_use', 'discovery', 'decision', 'error', 'insight')`))
      .addColumn('content', 'text', required)
      .addColumn('outcome', 'text')
      .addColumn('task_id', 'text')
      .addColumn('agent_id', 'text')
      .addColumn('stated_by', 'text', required)
      .addColumn('created_at', integer, required)
      .addColumn('consolidated_by', 'text'),
    pending('observation_pending', 'session_id, branch, seq'),
    pending('observation_pending_on', 'branch, seq, session_id'),
    index('observation_on', 'observation', 'branch, seq'),
    index('observation_of_session', 'observation', 'session_id, seq'),
    ...['task', 'agent'].map((whose) =>
      index(`observation_of_${whose}`, 'observation', `${whose}_id, seq`, `${whose}_id is not null`),
    ),
  ]
}

function factTable({ integer, orderedText, numbered, index }: Spelling): Compilable[] {
  return [
    numbered('fact')
      .addColumn('id', orderedText, (column) => column.notNull().unique())
      .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
      .addColumn('text', 'text', required)
      .addColumn('category', 'text', required)
      .addColumn('confidence', integer, checked('confidence between 0 and 100'))
      .addColumn('stated_by', 'text', required)
      .addColumn('session_id', 'text')
      .addColumn('task_id', 'text')
      .addColumn('agent_id', 'text')
      .addColumn('observation_id', 'text')
      .addColumn('origin_id', 'text')
      .addColumn('status', 'text', checked(`status in ('active', 'superseded')`))
      .addColumn('successor_id', 'text')
      .addColumn('disputed', integer, checked('disputed in (0, 1)'))
      .addColumn('verdict', 'text', (column) => column.check(sql`verdict in ('durable', 'ephemeral')`))
      .addColumn('compared_by', 'text')
      .addColumn('merged_to', 'text')
      .addColumn('merged_confidence', integer)
      .addColumn('subject', 'text', required)
      .addColumn('created_at', integer, required)
      .addColumn('updated_at', integer, required)
      .addCheckConstraint('fact_superseded_has_successor', sql`(successor_id is not null) = (status = 'superseded')`)
      .addCheckConstraint('fact_is_not_its_successor', sql`successor_id <> id`),
    index('fact_on', 'fact', 'branch, status, seq'),
    index('fact_subject', 'fact', 'branch, subject', `${comparable} and subject <> ''`),
    index('fact_compared', 'fact', 'branch, compared_by, seq', `${comparable}`),
    index('fact_unmerged', 'fact', 'branch, seq', `${comparable} and merged_confidence is distinct from confidence`),
    index('fact_summary', 'fact', 'branch, agent_id', `status = 'active' and category = 'summary'`),
  ]
}

/** The facts in which a word is found: active ones that are not summaries, by their number of words. */
function factWordTable({ integer, keyTable }: Spelling): Compilable[] {
  return [
    keyTable('fact_word')
      .addColumn('branch', integer, required)
      .addColumn('word', 'text', required)
      .addColumn('size', integer, required)
      .addColumn('fact', integer, required)
      .addPrimaryKeyConstraint('fact_word_key', ['branch', 'word', 'size', 'fact']),
  ]
}

/**
 * The same facts for searches, by the stems of their words. Each database has an index of its own for that, which the builder cannot
 * express. FTS5 keeps no text (the fact has it) and no positions. `ascii` counts all non-ASCII characters as letters, which is right
 * because it receives words and blanks only, and no Unicode table of a later version then changes what a word is.
 */
function factTextTable({ kind, db }: Spelling): Compilable[] {
  const texts =
    kind === 'sqlite'
      ? [
          `create virtual table fact_text using fts5(
             words, content = '', contentless_delete = 1, detail = none, tokenize = 'porter ascii')`,
        ]
      : [
          `create table fact_text (fact bigint not null primary key, branch bigint not null, words text[] not null)`,
          `create index fact_text_words on fact_text using gin (words)`,
        ]
  return texts.map((text) => raw(db, text))
}

function factVectorTable({ integer, table }: Spelling): Compilable[] {
  return [
    table('fact_vector')
      .addColumn('fact', integer, (column) => column.notNull().references('fact.seq'))
      .addColumn('model', 'text', required)
      .addColumn('vector', 'text', required)
      .addPrimaryKeyConstraint('fact_vector_key', ['fact', 'model']),
  ]
}

function consolidationTables({ integer, real, numbered, index }: Spelling): Compilable[] {
  return [
    numbered('consolidation')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn(
        'type',
        'text',
        checked(`type in ('session_end', 'agent_complete', 'task_checkpoint', 'project_checkpoint', 'merge')`),
      )
      .addColumn('source_branch', 'text', (column) => column.notNull().references('branch.name'))
      .addColumn('target_branch', 'text', (column) => column.notNull().references('branch.name'))
      .addColumn('session_id', 'text')
      .addColumn('agent_id', 'text')
      .addColumn('task_id', 'text')
      .addColumn('trigger', 'text', required)
      .addColumn('observations_processed', integer, required)
      .addColumn('facts_created', integer, required)
      .addColumn('facts_updated', integer, required)
      .addColumn('facts_deduplicated', integer, required)
      .addColumn('durable', integer)
      .addColumn('ephemeral', integer)
      .addColumn('merged', integer)
      .addColumn('rejected', integer)
      .addColumn('summary', 'text')
      .addColumn('at', integer, required),
    index('consolidation_of_type', 'consolidation', 'type, seq'),
    index('consolidation_from', 'consolidation', 'source_branch, seq'),
    index('consolidation_into', 'consolidation', 'target_branch, seq'),
    ...['task', 'agent', 'session'].map((whose) =>
      index(`consolidation_of_${whose}`, 'consolidation', `${whose}_id, seq`, `${whose}_id is not null`),
    ),
    numbered('decision')
      .addColumn('consolidation_id', 'text', (column) => column.notNull().references('consolidation.id'))
      .addColumn(
        'kind',
        'text',
        checked(
          `kind in ('created', 'boosted', 'confirmed', 'superseded', 'summarized', 'carried', 'judged', 'contradicted', 'settled')`,
        ),
      )
      .addColumn('fact_id', 'text', required)
      .addColumn('other_id', 'text')
      .addColumn('observation_id', 'text')
      .addColumn('similarity', real)
      .addColumn('before', integer)
      .addColumn('after', integer)
      .addColumn('note', 'text'),
    index('decision_on', 'decision', 'fact_id, seq'),
    index('decision_naming', 'decision', 'other_id, seq', 'other_id is not null'),
    index('decision_of', 'decision', 'consolidation_id, seq'),
  ]
}

/** The text of a fact never changes, a superseded one never returns, and the record is neither rewritten nor shortened. */
function memoryGuards(spelling: Spelling): Compilable[] {
  const kept = ['consolidation', 'decision'].flatMap((table) => [
    { name: `${table}_is_immutable`, table, on: 'update', message: `a ${table} never changes` },
    { name: `${table}_is_kept`, table, on: 'delete', message: `a ${table} is never deleted` },
  ])
  const guards: Guard[] = [
    {
      name: 'fact_says_the_same',
      table: 'fact',
      on: 'update of text, branch, category',
      when: 'old.text <> new.text or old.branch <> new.branch or old.category <> new.category',
      message: 'what a fact says never changes',
    },
    {
      name: 'fact_stays_superseded',
      table: 'fact',
      on: 'update of status',
      when: `old.status = 'superseded' and new.status <> old.status`,
      message: 'a superseded fact never returns',
    },
    {
      name: 'observation_is_consumed_once',
      table: 'observation',
      on: 'update of consolidated_by',
      when: 'old.consolidated_by is not null and new.consolidated_by is distinct from old.consolidated_by',
      message: 'an observation is taken up once',
    },
    ...kept,
  ]
  return guards.flatMap((guard) => guardTrigger(spelling, guard))
}
