"""One rank of TensorFlow's MultiWorkerMirroredStrategy, whose gradients are summed by its ring of gRPC."""

import json
import os

import hbench_rank


def version(setting):
    import tensorflow_rank

    return tensorflow_rank.version()


def train(order, rank, ranks, local_rank):
    import meeting
    import tensorflow_rank
    from tensorflow_rank import tf

    case = order["case"]
    others = meeting.Meeting(rank, ranks)
    workers = others.gather(meeting.free_address())
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
    tensorflow_rank.set_up()
    ring = tf.distribute.experimental.CommunicationImplementation.RING
    options = tf.distribute.experimental.CommunicationOptions(implementation=ring)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    with strategy.scope():
        model = tensorflow_rank.tensorflow_models.make_model(case["workload"])
    hbench_rank.report([rank], "parameters", tensorflow_rank.count(model))

    def replica_step(images, labels):
        loss, gradients = tensorflow_rank.gradients_of(model, images, labels)
        gradients = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradients)
        tensorflow_rank.update(model, gradients)
        return loss

    step = tf.function(lambda images, labels: strategy.run(replica_step, (images, labels)))
    data = [tensorflow_rank.make_batch(case, tensorflow_rank.BATCHES * rank + number)
            for number in range(tensorflow_rank.BATCHES)]
    steps = hbench_rank.Steps(order, [rank], others.agree)
    while steps.go_on():
        loss = strategy.experimental_local_results(step(*data[steps.done % len(data)]))[0]
        steps.end(float(loss))
    hbench_rank.report([rank], "loss", float(loss))
    digest = tensorflow_rank.digest_of(model)
    others.gather("trained")
    others.leave()
    return digest


hbench_rank.main(version, train)
